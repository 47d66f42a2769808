import { resolve } from 'node:path';
import { queryOf, type ToolDefinition } from '../../core/case.ts';
import { UserError } from '../../core/errors.ts';
import type { Json } from '../../core/json.ts';
import type { ModuleAgentConfig } from '../../core/suite.ts';
import { addUsage, type Trajectory, UNKNOWN_USAGE, type Usage } from '../../core/trajectory.ts';
import type { Agent, AgentInput } from '../agent.ts';
import { conversationOf } from '../openai/conversation.ts';
import { readModuleAnswer } from './module-answer.ts';
import type { ModulePool } from './module-pool.ts';
import type { ModuleProcess } from './module-process.ts';
import { loadModule } from './module-load.ts';
import type { ModuleContextData, ModuleFailure, ModulePlace, ModuleTask } from './module-protocol.ts';
import { CapReached, createModuleService, type ModuleService } from './module-trial.ts';
import { createModuleTurns, type ModuleTurns } from './module-turns.ts';
import { createRecorder, type Ending, type Recorder } from '../recorder.ts';
import { abortError, type Sleep } from '../sleep.ts';
import { startTimeCap, type TimeCap } from '../time-cap.ts';
import { createToolRunner, type ToolRunner } from '../tool-runner.ts';
import { type OpenToolSource, openTrialWorld, type TrialWorld } from '../trial-world.ts';

export interface ModuleAgentOptions {
  pool: ModulePool;
  sleep: Sleep;
  /** Given to modules as `context.model`. */
  model: ModuleContextData['model'];
  /** Tools from outside the mock world. Default none. */
  sources?: readonly OpenToolSource[];
}

/** How long a module may take to end by itself after `context.signal` was aborted. */
const GRACE_MS = 300;

type Outcome = Omit<Ending, 'endState'>;
type Result = { type: 'returned'; value: Json } | { type: 'failed'; phase: string; error: ModuleFailure };

/**
 * The user's own function, run in a child process, its tools answered by the mock world and recorded. What it throws,
 * or returns wrongly, is a FAILED trajectory; its time used up (a loop that never yields too) is TIMEOUT.
 * Rejects with {@link WorkerCrashError} when the process dies, {@link UserError} when the module cannot be loaded, and
 * as {@link Agent} says for model calls made through `context.complete`.
 */
export function createModuleAgent(options: ModuleAgentOptions): Agent {
  return {
    async run(input) {
      const config = input.suite.agent;
      if (config.type !== 'module') {
        throw new UserError(`the agent of suite ${input.suite.name} is of type ${config.type}, not module`);
      }
      const child = await options.pool.acquire(input.suite.concurrency, input.signal);
      let world: TrialWorld | undefined;
      let trial: ModuleTrial | undefined;
      try {
        await loadModule(child, placeOf(input, config), input.signal);
        world = await openTrialWorld(input, { sleep: options.sleep, sources: options.sources ?? [] });
        trial = startTrial(input, child, world);
        return finish(trial, await drive(trial, taskOf(input, config, { model: options.model, tools: world.tools })));
      } finally {
        trial?.cap.dispose();
        await Promise.all([options.pool.release(child, trial?.reusable ?? false), world?.close()]);
      }
    },
  };
}

/** One trial in progress. */
interface ModuleTrial {
  input: AgentInput;
  child: ModuleProcess;
  cap: TimeCap;
  /** Aborted when the trial ends early; its reason is why. */
  stop: AbortController;
  recorder: Recorder;
  runner: ToolRunner;
  turns: ModuleTurns;
  service: ModuleService;
  state: () => Ending['endState'];
  /** True once the module has ended by itself and left its process sound. */
  reusable: boolean;
}

function placeOf(input: AgentInput, config: ModuleAgentConfig): ModulePlace {
  return { path: resolve(input.suiteRoot, config.path), exportName: config.export ?? 'default' };
}

function taskOf(
  input: AgentInput,
  config: ModuleAgentConfig,
  options: { model: ModuleContextData['model']; tools: readonly ToolDefinition[] },
): ModuleTask {
  const { evalCase, trialIndex } = input;
  const base = config.options?.['seed'];
  return {
    input: queryOf(evalCase),
    context: {
      messages: conversationOf(evalCase, undefined).messages,
      turns: evalCase.turns ?? [],
      documents: evalCase.context?.documents ?? [],
      toolNames: options.tools.map((tool) => tool.name),
      metadata: evalCase.metadata ?? {},
      options: config.options ?? {},
      trialIndex,
      seed: (typeof base === 'number' ? base : 0) + trialIndex - 1,
      model: options.model,
    },
  };
}

function startTrial(input: AgentInput, child: ModuleProcess, { tools, world }: TrialWorld): ModuleTrial {
  const recorder = createRecorder(tools, input.now);
  const { messages, turns: more } = conversationOf(input.evalCase, undefined);
  recorder.messages.push(...messages, ...more.map((content) => ({ role: 'user' as const, content })));
  const stop = new AbortController();
  const { signal } = stop;
  const cap = startTimeCap(input.signal, input.evalCase.timeout_ms ?? input.suite.limits.timeout_ms);
  const runner = createToolRunner({ world, recorder, tools, suite: input.suite, signal });
  const turns = createModuleTurns();
  const send = child.send.bind(child);
  const service = createModuleService({ input, recorder, runner, turns, signal, send });
  return { input, child, cap, stop, recorder, runner, turns, service, state: () => world.state(), reusable: false };
}

/** Runs the task to its end, whichever comes first: its result, the death of the process, or a stop. */
async function drive(trial: ModuleTrial, task: ModuleTask): Promise<Outcome> {
  const { child, cap, stop } = trial;
  const onCap = (): void => stop.abort(cap.signal.reason);
  if (cap.signal.aborted) onCap();
  else cap.signal.addEventListener('abort', onCap, { once: true });
  const result = new Promise<Result>((resolve) => {
    child.listen((message) => {
      if (message.type === 'returned' || message.type === 'failed') {
        trial.reusable = message.type === 'returned' || message.phase === 'run';
        resolve(message);
      }
      // The first stop is the one that counts; what rejects because of it is part of it.
      else if (!stop.signal.aborted) trial.service(message).catch((error: unknown) => stop.abort(error));
    });
  });
  const stopped = new Promise<null>((resolve) => {
    if (stop.signal.aborted) resolve(null);
    else stop.signal.addEventListener('abort', () => resolve(null), { once: true });
  });
  child.send({ type: 'run', task });
  const ended = await Promise.race([result, child.ended, stopped]);
  if (ended === null) await stopChild(trial, result);
  // A stop that came in the same moment (the module ends because its model call failed) is the cause, not the result.
  if (ended === null || stop.signal.aborted) return stopOutcome(trial);
  if (ended instanceof Error) throw ended;
  // Work the module left behind must not reach the next trial.
  stop.abort(new Error('the trial is over'));
  return outcomeOf(trial, ended);
}

/** Tells the module to stop and gives it a moment; a process that does not end its trial by itself is killed. */
async function stopChild(trial: ModuleTrial, result: Promise<Result>): Promise<void> {
  trial.child.send({ type: 'abort', reason: 'the trial is stopped' });
  let timer: NodeJS.Timeout | undefined;
  const grace = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, GRACE_MS);
  });
  await Promise.race([result, trial.child.ended, grace]);
  clearTimeout(timer);
}

function stopOutcome({ input, cap, stop }: ModuleTrial): Outcome {
  if (input.signal.aborted) throw abortError(input.signal);
  const reason: unknown = stop.signal.reason;
  if (reason instanceof CapReached) return { status: 'MAX_ITERATIONS', reason: reason.message, answer: null };
  if (cap.expired()) return { status: 'TIMEOUT', reason: `timeout_ms (${cap.ms} ms) is used up`, answer: null };
  throw reason;
}

function outcomeOf(trial: ModuleTrial, result: Result): Outcome {
  if (result.type === 'failed') return failedOutcome(result);
  const parsed = readModuleAnswer(result.value);
  if (!parsed.ok) return { status: 'FAILED', reason: parsed.error, answer: null };
  const { answer, finalStatus, plan, retrievedDocIds, usage, subAgents, promptSegments } = parsed.value;
  const { runner, recorder, turns } = trial;
  if (answer !== null) recorder.messages.push({ role: 'assistant', content: answer });
  const question = runner.openQuestion();
  const reached = runner.escalated() ? 'ESCALATED' : question === null ? 'COMPLETED' : 'INPUT_REQUIRED';
  return {
    status: finalStatus ?? reached,
    reason: null,
    answer: answer ?? question,
    plan,
    retrievedDocIds,
    usage: usageOf(recorder, usage),
    subAgents,
    ...(promptSegments === null ? {} : { promptSegments }),
    // Without journaled model calls the turns of tool calls, and one for the answer, are the best count there is.
    ...(recorder.replyCount === 0 ? { iterations: turns.count() + 1 } : {}),
  };
}

function failedOutcome(failure: Extract<Result, { type: 'failed' }>): Outcome {
  const { name, message, at } = failure.error;
  const text = `${name}: ${message}${at === null ? '' : ` (${at})`}`;
  const what = failure.phase === 'stray' ? 'the module left an error unhandled' : 'the module threw';
  return { status: 'FAILED', reason: `${what}: ${text}`, answer: null };
}

/** Journaled calls are counted, the module's own added; a module that says nothing of either has unknown usage. */
function usageOf(recorder: Recorder, own: Usage | null): Usage {
  if (own !== null) return recorder.replyCount === 0 ? own : addUsage(recorder.usage, own);
  return recorder.replyCount === 0 ? UNKNOWN_USAGE : recorder.usage;
}

function finish(trial: ModuleTrial, outcome: Outcome): Trajectory {
  const usage = outcome.usage ?? usageOf(trial.recorder, null);
  return trial.recorder.finish({ ...outcome, usage, endState: trial.state() });
}
