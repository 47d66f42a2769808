import type { ToolDefinition } from '../../core/case.ts';
import type { Json, JsonObject } from '../../core/json.ts';
import {
  addUsage,
  NO_USAGE,
  type SubAgentRun,
  type ToolCall,
  type Trajectory,
  type Usage,
} from '../../core/trajectory.ts';
import type { AgentInput } from '../agent.ts';
import { conversationOf, userMessage } from '../openai/conversation.ts';
import type { ReadCall } from '../openai/read-tool-call.ts';
import { assistantMessage, createCallIds, toolMessages } from '../openai/tool-messages.ts';
import { createRecorder, type Ending, type Recorder } from '../recorder.ts';
import type { Sleep } from '../sleep.ts';
import { startTimeCap, type TimeCap } from '../time-cap.ts';
import { createToolRunner, isBrokenAnswer, type ToolRunner } from '../tool-runner.ts';
import { type OpenToolSource, openTrialWorld, type TrialWorld } from '../trial-world.ts';
import type { AgentReport } from './read-report.ts';

/** An ending but for what the trial itself knows. */
export type Outcome = Pick<Ending, 'status' | 'reason' | 'answer'>;

/** One trial of an agent outside this process: what it reports is recorded, what it asks is answered by the trial's world. */
export interface BlackBoxTrial {
  readonly input: AgentInput;
  readonly tools: ToolDefinition[];
  readonly recorder: Recorder;
  /** User turns still to be sent. */
  readonly turns: string[];
  /** The cap that forbids another turn of the agent; null when none does. */
  reachedCap(): string | null;
  /** Records a report, its own calls included. How the trial ended, when these are more than it may make; else null. */
  take(report: AgentReport): Outcome | null;
  /** Answers the calls of one turn. `cap` names the cap that kept some from being run. */
  answer(reads: ReadCall[]): Promise<{ calls: ToolCall[]; cap: string | null }>;
  /** Takes the answer of a turn: null when the next user turn was begun, else how the trial ended. */
  endTurn(report: AgentReport): Outcome | null;
  finish(outcome: Outcome, more?: Pick<Ending, 'stderr'>): Trajectory;
}

interface Sums {
  usage: Usage;
  /** Turns of calls and answers so far. */
  turns: number;
  subAgents: SubAgentRun[];
  plan: string[] | null;
  docIds: string[] | null;
  model: string | null;
}

export interface BlackBoxOptions {
  sleep: Sleep;
  /** Tools from outside the mock world. Default none. */
  sources?: readonly OpenToolSource[];
}

/**
 * Opens the world of a trial, runs `work` under the trial's time cap, and lets go of the world. What it takes to open the
 * world (an MCP server that starts) is no part of the agent's time.
 */
export async function inBlackBoxTrial(
  input: AgentInput,
  options: BlackBoxOptions,
  work: (trial: BlackBoxTrial, cap: TimeCap) => Promise<Trajectory>,
): Promise<Trajectory> {
  const world = await openTrialWorld(input, options);
  const cap = startTimeCap(input.signal, input.evalCase.timeout_ms ?? input.suite.limits.timeout_ms);
  try {
    return await work(startTrial(input, world, cap.signal), cap);
  } finally {
    cap.dispose();
    await world.close();
  }
}

function startTrial(input: AgentInput, { tools, world }: TrialWorld, signal: AbortSignal): BlackBoxTrial {
  const recorder = createRecorder(tools, input.now);
  const conversation = conversationOf(input.evalCase, undefined);
  recorder.messages.push(...conversation.messages);
  const runner = createToolRunner({ world, recorder, tools, suite: input.suite, signal });
  const turns = [...conversation.turns];
  const nextId = createCallIds();
  const sums: Sums = { usage: NO_USAGE, turns: 0, subAgents: [], plan: null, docIds: null, model: null };
  return {
    input,
    tools,
    recorder,
    turns,
    reachedCap: () => reachedCap(input, sums),
    take(report) {
      takeReport(report, { recorder, runner, sums, nextId, tools });
      const { max_tool_calls } = input.suite.limits;
      if (recorder.callCount <= max_tool_calls) return null;
      return stopped('MAX_ITERATIONS', `max_tool_calls (${max_tool_calls}) is reached`);
    },
    async answer(reads) {
      const { max_tool_calls } = input.suite.limits;
      const left = Math.max(0, max_tool_calls - recorder.callCount);
      const turn = sums.turns;
      sums.turns += 1;
      const running = runner.runAll(reads.slice(0, left), turn);
      const cap = reads.length > left ? `max_tool_calls (${max_tool_calls})` : null;
      const refused = reads.slice(left).map((read) => runner.refuse(read, turn, cap ?? ''));
      const calls = [...(await running), ...refused];
      addMessages(recorder, calls, { nextId, tools, content: null });
      return { calls, cap: cap === null ? null : `${cap} is reached` };
    },
    endTurn(report) {
      sums.turns += 1;
      return endTurn(report, { recorder, runner, turns });
    },
    finish: (outcome, more = {}) =>
      recorder.finish({
        ...outcome,
        ...more,
        endState: world.state(),
        usage: sums.usage,
        iterations: sums.turns,
        subAgents: sums.subAgents,
        plan: sums.plan,
        retrievedDocIds: sums.docIds,
        model: sums.model,
      }),
  };
}

function reachedCap(input: AgentInput, sums: Sums): string | null {
  const { max_iterations, max_tokens } = input.suite.limits;
  if (sums.turns >= max_iterations) return `max_iterations (${max_iterations}) is reached`;
  const { total } = sums.usage;
  return total !== null && total >= max_tokens ? `max_tokens (${max_tokens}) is reached: ${total} tokens used` : null;
}

interface Parts {
  recorder: Recorder;
  runner: ToolRunner;
  sums: Sums;
  nextId: (id: string | null) => string;
  tools: ToolDefinition[];
}

function takeReport(report: AgentReport, parts: Parts): void {
  const { recorder, runner, sums } = parts;
  sums.usage = addUsage(sums.usage, report.usage);
  sums.subAgents.push(...report.subAgents);
  sums.plan = report.plan ?? sums.plan;
  sums.model = report.model ?? sums.model;
  if (report.retrievedDocIds !== null) sums.docIds = [...new Set([...(sums.docIds ?? []), ...report.retrievedDocIds])];
  let last: number | null = null;
  let made: ToolCall[] = [];
  const flush = (): void => {
    if (made.length > 0) addMessages(recorder, made, { ...parts, content: null });
    made = [];
  };
  for (const one of report.toolCalls) {
    // Calls that name the same turn have no order among themselves; one that names none has a turn of its own.
    if (one.turn === null || one.turn !== last) {
      flush();
      sums.turns += 1;
    }
    last = one.turn;
    const call = runner.begin(one.read, sums.turns - 1);
    runner.end(call, one.result, one.error ?? malformedError(one.read));
    made.push(call);
  }
  flush();
}

function malformedError(read: ReadCall): ToolCall['error'] {
  return read.malformed === null ? null : { kind: 'malformed_call', message: read.malformed };
}

/** A turn of calls as the conversation shows it: the assistant's message and the answers. */
function addMessages(
  recorder: Recorder,
  calls: readonly ToolCall[],
  options: { nextId: (id: string | null) => string; tools: ToolDefinition[]; content: string | null },
): void {
  const ids = calls.map((call) => options.nextId(call.id));
  const reads = calls.map((call) => ({
    id: call.id,
    tool: call.tool,
    args: call.args,
    rawArguments: call.raw_arguments,
    malformed: call.malformed,
  }));
  const raw: Json[] = calls.map((call) => ({ function: { arguments: JSON.stringify(call.args) } }));
  recorder.messages.push(
    assistantMessage({ content: options.content, tool_calls: raw }, reads, ids, options.tools),
    ...toolMessages(calls, ids),
  );
}

function endTurn(
  report: AgentReport,
  { recorder, runner, turns }: Pick<Parts, 'recorder' | 'runner'> & { turns: string[] },
): Outcome | null {
  const answer = report.answer === null || report.answer.trim() === '' ? null : report.answer;
  if (answer !== null) recorder.messages.push({ role: 'assistant', content: answer });
  const question = runner.openQuestion();
  const stops = report.finalStatus !== null && report.finalStatus !== 'COMPLETED';
  const next = stops || question !== null ? undefined : turns.shift();
  if (next !== undefined) {
    recorder.messages.push(userMessage(next));
    return null;
  }
  const reached = runner.escalated() ? 'ESCALATED' : question === null ? 'COMPLETED' : 'INPUT_REQUIRED';
  return { status: report.finalStatus ?? reached, reason: null, answer: answer ?? question };
}

/** A call as the agent is told of it: its result, or how its tool failed; a broken answer as the text that came. */
export function answerTo({ id, tool, result, error }: ToolCall): JsonObject {
  return error === null || isBrokenAnswer(error) ? { id, tool, result } : { id, tool, error };
}

/** An ending without an answer. */
export function stopped(status: Outcome['status'], reason: string): Outcome {
  return { status, reason, answer: null };
}
