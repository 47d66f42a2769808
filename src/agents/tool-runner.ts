import type { ToolDefinition } from '../core/case.ts';
import type { Json } from '../core/json.ts';
import type { Suite } from '../core/suite.ts';
import type { ToolCall } from '../core/trajectory.ts';
import { createApprovals } from './mock/approvals.ts';
import type { MockWorld, ToolOutcome } from './mock/mock-world.ts';
import type { ToolWorld } from './tool-router.ts';
import type { ReadCall } from './openai/read-tool-call.ts';
import type { Recorder } from './recorder.ts';

/** Tools whose successful call makes the trial end ESCALATED. */
const ESCALATION_TOOLS: readonly string[] = ['escalate_to_human', 'escalate'];
/** Tool that asks the user; unanswered, the trial ends INPUT_REQUIRED. */
const ASK_USER_TOOL = 'ask_user';

/** Runs the calls of one trial against the mock world and records each. */
export interface ToolRunner {
  /** Runs one call. Never rejects for what the tool does; rejects with `AbortError` when the signal is aborted. */
  run(read: ReadCall, turn: number): Promise<ToolCall>;
  /** Runs the calls of one assistant turn in parallel. */
  runAll(reads: ReadCall[], turn: number): Promise<ToolCall[]>;
  /** Records a call that a cap kept from being run. */
  refuse(read: ReadCall, turn: number, cap: string): ToolCall;
  /** Begins a call whose tool the agent runs itself. */
  begin(read: ReadCall, turn: number): ToolCall;
  /** Ends a call begun with `begin`. */
  end(call: ToolCall, result: Json, error: ToolCall['error']): void;
  /** True once an escalation tool succeeded. */
  escalated(): boolean;
  /** What the agent asked the user, when nobody answered; null otherwise. */
  openQuestion(): string | null;
}

export interface ToolRunnerOptions {
  world: MockWorld | ToolWorld;
  recorder: Recorder;
  tools: readonly ToolDefinition[];
  suite: Pick<Suite, 'safety'>;
  signal: AbortSignal;
}

export function createToolRunner(options: ToolRunnerOptions): ToolRunner {
  const { world, recorder, signal } = options;
  const offered = new Set(options.tools.map((tool) => tool.name));
  const approvals = createApprovals(options.suite.safety);
  let escalated = false;
  let openQuestion: string | null = null;

  const begin: ToolRunner['begin'] = (read, turn) => recorder.begin(read, turn, approvals.covers(read.tool, turn));
  const end: ToolRunner['end'] = (call, result, error) => {
    recorder.end(call, result, error);
    approvals.note(call);
    if (error === null && call.malformed === null && ESCALATION_TOOLS.includes(call.tool)) escalated = true;
  };

  const run: ToolRunner['run'] = async (read, turn) => {
    const call = begin(read, turn);
    const refusal = refusalOf(call, offered);
    if (refusal !== null) {
      end(call, null, refusal);
      return call;
    }
    const answer = await world.call(read.tool, read.args ?? {}, signal, call);
    const outcome = withoutFixture(call, answer);
    if (outcome.unmatched) recorder.unmatched(call);
    else if (answer.unmatched && call.tool === ASK_USER_TOOL) openQuestion = questionOf(call);
    end(call, outcome.result, outcome.error);
    return call;
  };

  return {
    run,
    begin,
    end,
    async runAll(reads, turn) {
      const calls = await Promise.all(reads.map((read) => run(read, turn)));
      recorder.approvalWait(approvalWait(calls));
      return calls;
    },
    refuse(read, turn, cap) {
      const call = begin(read, turn);
      end(call, null, { kind: 'limit', message: `not run: ${cap} is reached` });
      return call;
    },
    escalated: () => escalated,
    openQuestion: () => openQuestion,
  };
}

/** Why a call never reaches the world; null when it does. */
function refusalOf(call: ToolCall, offered: ReadonlySet<string>): ToolCall['error'] {
  if (call.malformed !== null) return { kind: 'malformed_call', message: call.malformed };
  if (!offered.has(call.tool)) {
    const names = offered.size === 0 ? 'no tools are offered' : `the tools are ${[...offered].join(', ')}`;
    return { kind: 'unknown_tool', message: `there is no tool ${JSON.stringify(call.tool)}; ${names}` };
  }
  if (call.approved === false) {
    return { kind: 'approval_required', message: `${call.tool} needs an approval first: call request_approval` };
  }
  return null;
}

/** Escalating and asking need no fixture: they end the work instead of doing something in the world. */
function withoutFixture(call: ToolCall, outcome: ToolOutcome): ToolOutcome {
  if (!outcome.unmatched) return outcome;
  if (ESCALATION_TOOLS.includes(call.tool)) return { result: { status: 'escalated' }, error: null, unmatched: false };
  if (call.tool !== ASK_USER_TOOL) return outcome;
  return { result: { status: 'waiting for the user' }, error: null, unmatched: false };
}

function questionOf(call: ToolCall): string {
  const { question, message } = call.args ?? {};
  if (typeof question === 'string') return question;
  return typeof message === 'string' ? message : JSON.stringify(call.args);
}

/** How much longer the turn took because of its approvals, beyond its other calls. */
function approvalWait(calls: readonly ToolCall[]): number {
  const start = Math.min(...calls.map((call) => call.started_at_ms));
  const endOf = (waiting: boolean): number =>
    Math.max(start, ...calls.filter((call) => isApproval(call) === waiting).map((call) => call.ended_at_ms));
  return calls.some(isApproval) ? Math.max(0, endOf(true) - endOf(false)) : 0;
}

function isApproval(call: ToolCall): boolean {
  return call.tool === 'request_approval';
}

/** What the agent is told of an ended call: its result, or `{"error": {...}}`; a broken result as the broken text. */
export function toolMessageText(call: ToolCall): string {
  if (call.error !== null && !isBrokenAnswer(call.error)) return JSON.stringify({ error: call.error });
  return typeof call.result === 'string' ? call.result : JSON.stringify(call.result);
}

/** True for a tool that did answer, but brokenly: the agent is given what came, not the error. */
export function isBrokenAnswer(error: { kind: string }): boolean {
  return error.kind === 'malformed' || error.kind === 'truncated';
}
