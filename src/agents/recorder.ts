import type { ChatMessage, ToolDefinition } from '../core/case.ts';
import type { Json, JsonObject } from '../core/json.ts';
import type { ModelReply } from '../core/model.ts';
import {
  addUsage,
  type FinalStatus,
  NO_USAGE,
  type PromptSegment,
  type SubAgentRun,
  type ToolCall,
  type Trajectory,
  type Usage,
} from '../core/trajectory.ts';
import type { ReadCall } from './openai/read-tool-call.ts';

/** How a trial of an agent ended. */
export interface Ending {
  status: FinalStatus;
  reason: string | null;
  answer: string | null;
  endState: JsonObject | null;
  plan?: string[] | null;
  retrievedDocIds?: string[] | null;
  /** Replaces what was counted; for agents that call models on their own. */
  usage?: Usage;
  /** Replaces the number of model replies; for the same. */
  iterations?: number;
  /** Sub-agents the agent reports itself. */
  subAgents?: SubAgentRun[];
  /** The parts the system prompt was assembled from; for agents that know them. */
  promptSegments?: PromptSegment[] | null;
  /** Model the agent says it used, where no journaled reply names one. */
  model?: string | null;
  /** What it wrote to standard error. */
  stderr?: string;
}

/** Collects what happens in one trial, in order. */
export interface Recorder {
  readonly messages: ChatMessage[];
  /** Calls begun so far. */
  readonly callCount: number;
  /** Model replies so far. */
  readonly replyCount: number;
  readonly usage: Usage;
  reply(reply: ModelReply): void;
  /** Begins a call and gives it its index. */
  begin(call: ReadCall, turn: number, approved: boolean | null): ToolCall;
  end(call: ToolCall, result: Json, error: ToolCall['error']): void;
  unmatched(call: ToolCall): void;
  /** Takes up a sub-agent's run in the order dispatched; it may still change until the trial ends. */
  subAgent(run: SubAgentRun): void;
  /** Adds what an ended sub-agent used and lacked to the trial's. */
  subAgentEnded(run: SubAgentRun, facts: { replies: number; unmatched: readonly string[] }): void;
  /** Milliseconds during which nothing but an approval was waited for. */
  approvalWait(ms: number): void;
  /** Calls still open are closed as aborted: the trial ended before their tools answered. */
  finish(ending: Ending): Trajectory;
}

interface Recording {
  startedAt: number;
  tools: ToolDefinition[];
  messages: ChatMessage[];
  calls: ToolCall[];
  open: Set<ToolCall>;
  unmatched: Trajectory['unmatched_calls'];
  subAgents: SubAgentRun[];
  subAgentReplies: number;
  replies: number;
  usage: Usage;
  model: string | null;
  firstTokenMs: number | null;
  approvalWaitMs: number;
}

/** @param now milliseconds since the epoch. */
export function createRecorder(availableTools: ToolDefinition[], now: () => number): Recorder {
  const recording = emptyRecording(availableTools, now());
  return {
    messages: recording.messages,
    get callCount() {
      return recording.calls.length;
    },
    get replyCount() {
      return recording.replies;
    },
    get usage() {
      return recording.usage;
    },
    reply(reply) {
      if (recording.replies === 0) recording.firstTokenMs = reply.time_to_first_token_ms;
      recording.replies += 1;
      recording.usage = addUsage(recording.usage, reply.usage);
      recording.model = reply.model ?? recording.model;
    },
    begin(read, turn, approved) {
      const call = openCall(read, { index: recording.calls.length, turn, approved, at: now() });
      recording.calls.push(call);
      recording.open.add(call);
      return call;
    },
    end: (call, result, error) => endCall(recording, call, { result, error, at: now() }),
    unmatched(call) {
      recording.unmatched.push({ index: call.index, tool: call.tool });
    },
    subAgent: (run) => void recording.subAgents.push(run),
    subAgentEnded(run, { replies, unmatched }) {
      recording.usage = addUsage(recording.usage, run.usage);
      recording.subAgentReplies += replies;
      const index = mainCallOf(run, recording.subAgents);
      recording.unmatched.push(...unmatched.map((tool) => ({ index, tool })));
    },
    approvalWait(ms) {
      recording.approvalWaitMs += ms;
    },
    finish: (ending) => trajectoryOf(recording, ending, now()),
  };
}

/** The call of the main agent that a run goes back to, over those that dispatched it. */
function mainCallOf(run: SubAgentRun, runs: readonly SubAgentRun[]): number {
  const parent = (run.parent ?? null) === null ? undefined : runs.find(({ id }) => id === run.parent);
  return parent === undefined ? (run.dispatch_call_index ?? 0) : mainCallOf(parent, runs);
}

function emptyRecording(tools: ToolDefinition[], startedAt: number): Recording {
  return {
    startedAt,
    tools,
    messages: [],
    calls: [],
    open: new Set(),
    unmatched: [],
    subAgents: [],
    subAgentReplies: 0,
    replies: 0,
    usage: NO_USAGE,
    model: null,
    firstTokenMs: null,
    approvalWaitMs: 0,
  };
}

function endCall(
  recording: Recording,
  call: ToolCall,
  end: { result: Json; error: ToolCall['error']; at: number },
): void {
  // A tool that answers after the trial ended must not change what was recorded.
  if (!recording.open.delete(call)) return;
  call.result = end.result;
  call.error = end.error;
  call.ended_at_ms = end.at;
}

function trajectoryOf(recording: Recording, ending: Ending, at: number): Trajectory {
  const error = { kind: 'aborted', message: 'the trial ended before the tool answered' };
  for (const call of recording.calls) endCall(recording, call, { result: null, error, at });
  return {
    version: 1,
    final_status: ending.status,
    final_status_reason: ending.reason,
    answer: ending.answer,
    messages: recording.messages,
    tool_calls: recording.calls,
    available_tools: recording.tools,
    iterations: ending.iterations ?? recording.replies,
    model_calls: recording.replies + recording.subAgentReplies,
    usage: ending.usage ?? recording.usage,
    sub_agents: [...recording.subAgents, ...(ending.subAgents ?? [])],
    ...(ending.promptSegments === undefined ? {} : { prompt_segments: ending.promptSegments }),
    end_state: ending.endState,
    unmatched_calls: recording.unmatched,
    plan: ending.plan ?? null,
    retrieved_doc_ids: ending.retrievedDocIds ?? null,
    model: recording.model ?? ending.model ?? null,
    ...(ending.stderr === undefined || ending.stderr === '' ? {} : { stderr: ending.stderr }),
    time_to_first_token_ms: recording.firstTokenMs,
    approval_wait_ms: recording.approvalWaitMs,
    started_at_ms: recording.startedAt,
    ended_at_ms: at,
  };
}

function openCall(
  read: ReadCall,
  facts: { index: number; turn: number; approved: boolean | null; at: number },
): ToolCall {
  return {
    index: facts.index,
    turn: facts.turn,
    id: read.id,
    tool: read.tool,
    args: read.args,
    raw_arguments: read.rawArguments,
    malformed: read.malformed,
    result: null,
    error: null,
    approved: facts.approved,
    started_at_ms: facts.at,
    ended_at_ms: facts.at,
  };
}
