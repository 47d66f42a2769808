import { resolve } from 'node:path';
import type { CommandAgentConfig } from '../../core/agent-config.ts';
import type { ChatMessage } from '../../core/case.ts';
import { UserError } from '../../core/errors.ts';
import { maskSecrets } from '../../core/masked-secret.ts';
import type { Agent, AgentInput } from '../agent.ts';
import { WorkerCrashError } from '../module/worker-crash.ts';
import {
  answerTo,
  type BlackBoxOptions,
  type BlackBoxTrial,
  inBlackBoxTrial,
  type Outcome,
  stopped,
} from '../report/black-box-trial.ts';
import { readReport, type AgentReport } from '../report/read-report.ts';
import { readAgentCall } from '../report/reported-call.ts';
import { abortError, untilAborted } from '../sleep.ts';
import type { TimeCap } from '../time-cap.ts';
import { commandEnvironment, passedSecrets } from './command-environment.ts';
import { type CommandProcess, type ProcessEnd, startCommandProcess } from './command-process.ts';
import { readProgramMessage } from './command-protocol.ts';
import { findProgram } from './find-program.ts';

export interface CommandAgentOptions extends BlackBoxOptions {
  /** Environment of the worker; only what the allow list names is handed on. */
  env: Readonly<Record<string, string | undefined>>;
  /** Told to programs with `model_access`. */
  model: { baseUrl: string; apiKey: string | null } | null;
}

/** An agent whose programs can all be ended. */
export interface CommandAgent extends Agent {
  close(): Promise<void>;
}

/** One trial in progress. */
interface CommandTrial {
  trial: BlackBoxTrial;
  config: CommandAgentConfig;
  options: CommandAgentOptions;
  signal: AbortSignal;
  running: Set<CommandProcess>;
  child: CommandProcess | null;
  /** Whether it ever wrote a whole line. */
  spoke: boolean;
  /** Standard error of programs of this trial that have ended. */
  stderr: string;
}

/** How long a program may take to end by itself after its last result, milliseconds. */
const LEAVE_MS = 500;
/** What a program that waits for the end of its input, or keeps its output in a buffer, is told. */
const SILENT =
  '; the program wrote no line. It is told one JSON object a line, and standard input stays open: read one line, not to the end, and flush what you write';
const STDERR_LENGTH = 16 * 1024;

/**
 * A program that speaks JSON lines (docs/agents.md). What it does wrong (another exit code than 0, output that is no
 * message, too much of it) is a FAILED trajectory; the end of its time is TIMEOUT.
 * Rejects with {@link WorkerCrashError} when a signal from outside ended it, {@link UserError} when it cannot be started.
 */
export function createCommandAgent(options: CommandAgentOptions): CommandAgent {
  const running = new Set<CommandProcess>();
  return {
    async run(input) {
      const config = input.suite.agent;
      if (config.type !== 'command') {
        throw new UserError(`the agent of suite ${input.suite.name} is of type ${config.type}, not command`);
      }
      return inBlackBoxTrial(input, options, async (trial, cap) => {
        const state: CommandTrial = {
          trial,
          config,
          options,
          signal: cap.signal,
          running,
          child: null,
          spoke: false,
          stderr: '',
        };
        try {
          const outcome = await converse(state).catch((error: unknown) => endedBy(input, cap, state, error));
          await stop(state);
          return masked(trial.finish(outcome, { stderr: state.stderr.trim() }), state);
        } finally {
          await stop(state);
        }
      });
    },
    async close() {
      await Promise.all([...running].map((child) => child.kill()));
    },
  };
}

async function converse(state: CommandTrial): Promise<Outcome> {
  for (;;) {
    const cap = state.trial.reachedCap();
    if (cap !== null) return stopped('MAX_ITERATIONS', cap);
    const turn = await runTurn(state);
    if ('outcome' in turn) return turn.outcome;
    const outcome = state.trial.take(turn.report) ?? state.trial.endTurn(turn.report);
    if (outcome !== null) {
      const remark = await leave(state);
      return remark === null || outcome.reason !== null ? outcome : { ...outcome, reason: remark };
    }
  }
}

/** One user turn: until the program's result, or what ended it before. */
async function runTurn(state: CommandTrial): Promise<{ report: AgentReport } | { outcome: Outcome }> {
  const failed = (reason: string): { outcome: Outcome } => ({ outcome: stopped('FAILED', reason) });
  // A program may end after each of its results: then the next turn is told to a new one.
  let mayHaveLeft = state.child !== null;
  let child = begin(state);
  for (;;) {
    const line = await untilAborted(child.nextLine(), state.signal);
    if (line === null) {
      const end = await untilAborted(child.ended, state.signal);
      if (!mayHaveLeft || end.type !== 'exited' || end.code !== 0) return failed(endReason(end, state));
      await stop(state);
      mayHaveLeft = false;
      child = spawnProgram(state);
      continue;
    }
    mayHaveLeft = false;
    state.spoke = true;
    const read = readProgramMessage(line);
    if (!read.ok) return failed(`the program wrote ${read.error}`);
    if (read.message.type === 'result') {
      const { statuses: _own, ...parts } = read.message.report;
      const report = readReport({ ...parts, pending_calls: undefined }, {}, 'the result has no "answer"');
      return report.ok ? { report: report.report } : failed(report.error);
    }
    const cap = await answerCalls(state, child, read.message);
    if (cap !== null) return { outcome: stopped('MAX_ITERATIONS', cap) };
  }
}

async function answerCalls(
  { trial }: CommandTrial,
  child: CommandProcess,
  message: { calls: unknown[]; single: boolean },
): Promise<string | null> {
  const cap = trial.reachedCap();
  if (cap !== null) return cap;
  const answered = await trial.answer(message.calls.map((call) => readAgentCall(call as never)));
  const results = answered.calls.map(answerTo);
  child.write(
    JSON.stringify(message.single ? { type: 'tool_result', ...results[0] } : { type: 'tool_results', results }),
  );
  return answered.cap;
}

/** The program for the next turn: the one that was there for the last, else a new one that is told the conversation so far. */
function begin(state: CommandTrial): CommandProcess {
  const { trial, child } = state;
  if (child !== null) {
    child.write(JSON.stringify({ type: 'user', content: lastUserText(trial.recorder.messages) }));
    return child;
  }
  return spawnProgram(state);
}

function spawnProgram(state: CommandTrial): CommandProcess {
  const { trial, config, options, running } = state;
  const cwd = resolve(trial.input.suiteRoot, config.cwd ?? '.');
  const env = commandEnvironment(options.env, config, 'agent.pass_env');
  const [program = '', ...args] = config.command;
  const child = startCommandProcess({
    program: findProgram(program, { cwd, env, key: 'agent.command' }),
    args,
    cwd,
    env,
    maxBytes: config.max_output_bytes,
  });
  running.add(child);
  void child.ended.then(() => running.delete(child));
  state.child = child;
  child.write(JSON.stringify(startMessage(state)));
  return child;
}

function startMessage({ trial, config, options }: CommandTrial): Record<string, unknown> {
  const { evalCase, trialIndex } = trial.input;
  const seed = config.options?.['seed'];
  return {
    type: 'start',
    protocol: 1,
    input: lastUserText(trial.recorder.messages),
    messages: trial.recorder.messages,
    more_turns: trial.turns.length,
    tools: trial.tools,
    documents: evalCase.context?.documents ?? [],
    metadata: evalCase.metadata ?? {},
    options: config.options ?? {},
    trial_index: trialIndex,
    seed: (typeof seed === 'number' ? seed : 0) + trialIndex - 1,
    ...(config.model_access && options.model !== null
      ? { model: { base_url: options.model.baseUrl, api_key: options.model.apiKey } }
      : {}),
  };
}

function lastUserText(messages: readonly ChatMessage[]): string {
  return messages.findLast((message) => message.role === 'user')?.content ?? '';
}

/** Why there is no result. @throws WorkerCrashError when the program did not end by itself. */
function endReason(end: ProcessEnd, state: CommandTrial): string {
  const last = logged(state).trim();
  const said = last === '' ? '' : `; it last wrote: ${last.slice(-500)}`;
  switch (end.type) {
    case 'exited':
      return `the program ended with exit code ${end.code} and without a result${said}`;
    case 'too_much':
      return `the program wrote more than ${end.bytes} bytes (agent.max_output_bytes)`;
    case 'not_started':
      throw new UserError(`the program cannot be started: ${end.message}`);
    case 'signal':
      throw new WorkerCrashError(`the program was ended by ${end.signal}${said}`, {
        exitCode: null,
        exitSignal: end.signal,
      });
  }
}

/** Lets the program end by itself after its last result; one that does not is killed. A remark when it ended badly. */
async function leave(state: CommandTrial): Promise<string | null> {
  const { child, options, signal } = state;
  if (child === null) return null;
  child.endInput();
  const over = new AbortController();
  const late = options.sleep(LEAVE_MS, AbortSignal.any([over.signal, signal])).then(
    () => null,
    () => null,
  );
  const end = await Promise.race([child.ended, late]);
  over.abort();
  if (end === null || end.type !== 'exited' || end.code === 0) return null;
  return `the program ended with exit code ${end.code} after its result`;
}

/** Ends the program of a trial, whatever it does, and keeps what it wrote to standard error. */
async function stop(state: CommandTrial): Promise<void> {
  const { child } = state;
  if (child === null) return;
  await child.kill();
  state.stderr = `${state.stderr}${logged(state)}`.slice(-STDERR_LENGTH);
  state.child = null;
}

/** What the program logged, without its secrets: masked before anything is cut, so that no part of one is left. */
function logged(state: CommandTrial): string {
  return masked({ text: state.child?.stderr() ?? '' }, state).text;
}

/** Without the secrets the program was trusted with. */
function masked<T extends object>(value: T, { config, options }: CommandTrial): T {
  const key = config.model_access ? (options.model?.apiKey ?? null) : null;
  return maskSecrets(value, [...passedSecrets(options.env, config), ...(key === null ? [] : [key])]);
}

function endedBy(input: AgentInput, cap: TimeCap, { spoke }: CommandTrial, error: unknown): Outcome {
  if (input.signal.aborted) throw abortError(input.signal);
  if (cap.expired()) return stopped('TIMEOUT', `timeout_ms (${cap.ms} ms) is used up${spoke ? '' : SILENT}`);
  throw error;
}
