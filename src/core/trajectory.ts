import type { ChatMessage, ToolDefinition } from './case.ts';
import type { Json, JsonObject } from './json.ts';

export const FINAL_STATUSES = [
  'COMPLETED',
  'PARTIAL_SUCCESS',
  'ESCALATED',
  'INPUT_REQUIRED',
  'FAILED',
  'TIMEOUT',
  'CANCELED',
  'MAX_ITERATIONS',
] as const;
export type FinalStatus = (typeof FINAL_STATUSES)[number];

/** Tokens of one or more model calls; `null` = the endpoint did not say. Unknown stays unknown: a sum with an unknown part is null. */
export interface Usage {
  input: number | null;
  cached: number | null;
  output: number | null;
  reasoning: number | null;
  total: number | null;
}

export const NO_USAGE: Usage = { input: 0, cached: 0, output: 0, reasoning: 0, total: 0 };

/** Sum of two usages; null when either part is unknown. */
export function addUsage(a: Usage, b: Usage): Usage {
  const add = (x: number | null, y: number | null): number | null => (x === null || y === null ? null : x + y);
  return {
    input: add(a.input, b.input),
    cached: add(a.cached, b.cached),
    output: add(a.output, b.output),
    reasoning: add(a.reasoning, b.reasoning),
    total: add(a.total, b.total),
  };
}

export const MALFORMED_TOOL = '(malformed)';

/** One tool call of the agent, in the order made. */
export interface ToolCall {
  /** 0-based position among the agent's calls. */
  index: number;
  /** 0-based assistant turn; calls of one turn have no order among themselves. */
  turn: number;
  /** As the model sent it; may repeat or be empty. */
  id: string | null;
  /** Name as called, or `(malformed)` when there was none. */
  tool: string;
  /** Parsed arguments; null when they were malformed. */
  args: JsonObject | null;
  /** The raw argument text as the model sent it, kept when malformed. */
  raw_arguments: string | null;
  /** Why the call could not be read; null for a well-formed one. */
  malformed: string | null;
  result: Json;
  /** How the tool failed; null when it answered. */
  error: { kind: string; message: string } | null;
  /** True when the approval step this tool needs had been given before the call; null when none is needed. */
  approved: boolean | null;
  started_at_ms: number;
  ended_at_ms: number;
}

export interface SubAgentRun {
  name: string;
  /** Messages given to the sub-agent. */
  input: string;
  output: string | null;
  final_status: FinalStatus;
  tool_calls: ToolCall[];
  usage: Usage;
}

/** Everything that happened in one trial. */
export interface Trajectory {
  version: 1;
  final_status: FinalStatus;
  /** Why it ended so: which cap, which refusal. */
  final_status_reason: string | null;
  /** The last assistant text; null when there was none. */
  answer: string | null;
  /** The conversation as sent and received, system prompt first. */
  messages: ChatMessage[];
  tool_calls: ToolCall[];
  available_tools: ToolDefinition[];
  /** Model turns taken by the main agent. */
  iterations: number;
  /** Model calls made, sub-agents included. */
  model_calls: number;
  usage: Usage;
  sub_agents: SubAgentRun[];
  /** The mock world's state at the end; null without one. */
  end_state: JsonObject | null;
  /** Calls no fixture answered. */
  unmatched_calls: { index: number; tool: string }[];
  plan: string[] | null;
  /** Ids of the documents the agent retrieved, best first; null when it reports none. */
  retrieved_doc_ids: string[] | null;
  /** The model that answered, as the endpoint named it. */
  model: string | null;
  /** Milliseconds from the first request to the first token; null when not streaming. */
  time_to_first_token_ms: number | null;
  /** Milliseconds spent waiting for an approval; not part of latency. */
  approval_wait_ms: number;
  started_at_ms: number;
  ended_at_ms: number;
}

/** Wall time of the agent in milliseconds, approval waits left out. */
export function latencyMs(trajectory: Trajectory): number {
  return Math.max(0, trajectory.ended_at_ms - trajectory.started_at_ms - trajectory.approval_wait_ms);
}
