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

/** Tokens nobody reported, which is not 0. */
export const UNKNOWN_USAGE: Usage = { input: null, cached: null, output: null, reasoning: null, total: null };

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

/** One dispatch of a sub-agent, a blocked one too, in the order dispatched. What an agent does not report is left out: unknown. */
export interface SubAgentRun {
  /** The declared name. */
  name: string;
  /** What the sub-agent was told. */
  input: string;
  /** What it returned to the one who dispatched it; null when it returned nothing. */
  output: string | null;
  /** PARTIAL_SUCCESS when it was cut by its timeout; FAILED when the dispatch was blocked. */
  final_status: FinalStatus;
  tool_calls: ToolCall[];
  usage: Usage;
  /** Unique in the trajectory. */
  id?: string;
  /** The `id` of the run that dispatched it; null = the main agent. */
  parent?: string | null;
  /** `index` of the dispatcher's tool call that started it. */
  dispatch_call_index?: number | null;
  /** Its own conversation, as sent and received. */
  messages?: ChatMessage[];
  /** Names of the tools it may use; null = not limited. */
  allowed_tools?: string[] | null;
  /** Parts of the dispatcher's context handed over on purpose: canaries in here are no leak. */
  passed_context?: string[];
  /** Milliseconds it may take; null = no limit of its own. */
  timeout_ms?: number | null;
  /** True when its timeout ended it. */
  timed_out?: boolean;
  /** Why the dispatch was refused (`max_dispatches (2) is reached`); null = it ran. A blocked run has no messages and calls. */
  blocked?: string | null;
  /** Its own state (memory, notes) when it began and when it ended; the mock world's state is the trial's, not its own. */
  initial_state?: JsonObject | null;
  end_state?: JsonObject | null;
  started_at_ms?: number;
  ended_at_ms?: number;
}

/** One part of the system prompt, as it was sent. */
export interface PromptSegment {
  /** One of {@link PROMPT_SEGMENTS}, or a name of the agent's own. */
  name: string;
  text: string;
}

/** What became of one segment between two prompts. */
export interface SegmentChange {
  name: string;
  change: 'added' | 'removed' | 'changed' | 'moved';
  /** Its text before; null when it was not there. */
  before: string | null;
  after: string | null;
}

/** The segments of an assembled prompt, in their order. */
export const PROMPT_SEGMENTS = [
  'base',
  'user_profile',
  'topic',
  'skills_catalogue',
  'sub_agent_catalogue',
  'execution_plan',
  'plan_enforcement',
  'max_steps',
] as const;

/** One part of something an agent handed over. */
export type ArtifactPart =
  | { kind: 'text'; text: string; media_type: string }
  | { kind: 'data'; data: Json; media_type: string }
  /** A file: by its address, or its size and hash with the bytes themselves when they are few. */
  | {
      kind: 'file';
      filename: string | null;
      media_type: string;
      url: string | null;
      bytes: number | null;
      sha256: string | null;
      base64: string | null;
    };

/** Something an agent handed over apart from its answer. */
export interface AgentArtifact {
  id: string;
  name: string | null;
  description: string | null;
  parts: ArtifactPart[];
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
  /** What the agent handed over beside its messages; left out: it cannot. */
  artifacts?: AgentArtifact[];
  /** The parts the system prompt was assembled from, in the order sent; null or left out: the agent does not report them. */
  prompt_segments?: PromptSegment[] | null;
  /** The mock world's state at the end; null without one. */
  end_state: JsonObject | null;
  /** Calls no fixture answered; those of sub-agents under the main agent's call that led to them. */
  unmatched_calls: { index: number; tool: string }[];
  plan: string[] | null;
  /** Ids of the documents the agent retrieved, best first; null when it reports none. */
  retrieved_doc_ids: string[] | null;
  /** The model that answered, as the endpoint named it. */
  model: string | null;
  /** The end of what a `command` agent wrote to standard error, at most 16 KiB; left out: nothing. */
  stderr?: string;
  /** Milliseconds from the first request to the first token; null when not streaming. */
  time_to_first_token_ms: number | null;
  /** Milliseconds spent waiting for an approval; not part of latency. */
  approval_wait_ms: number;
  started_at_ms: number;
  ended_at_ms: number;
}

/** Wall time of the agent in milliseconds, approval waits left out; null when no times were recorded: both are 0 then. */
export function latencyMs(trajectory: Trajectory): number | null {
  const { started_at_ms: start, ended_at_ms: end, approval_wait_ms: waited } = trajectory;
  return start === 0 && end === 0 ? null : Math.max(0, end - start - waited);
}
