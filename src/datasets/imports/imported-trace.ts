import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import { parseJson } from '../../core/lossless-json.ts';
import {
  addUsage,
  NO_USAGE,
  type SubAgentRun,
  type ToolCall,
  type Trajectory,
  UNKNOWN_USAGE,
  type Usage,
} from '../../core/trajectory.ts';

/** How a tool call went, as a span of it says: results and times that messages do not carry. */
export interface ToolSpan {
  id: string | null;
  tool: string;
  args: JsonObject | null;
  /** The text of arguments that are no JSON object. */
  raw_arguments: string | null;
  /** undefined: the span does not say. */
  result: Json | undefined;
  error: ToolCall['error'];
  started_at_ms: number;
  ended_at_ms: number;
}

/** One recorded run of an agent, before it is a trajectory. */
export interface ImportedTrace {
  case_id: string;
  /** null: the next free number of the case. */
  trial: number | null;
  /** OpenAI chat messages. */
  messages: JsonObject[];
  tool_spans: ToolSpan[];
  sub_agents: SubAgentRun[];
  usage: Usage;
  /** Model calls of the main agent; null: one for each assistant message. */
  iterations: number | null;
  /** Model calls of all agents; null: as many as iterations. */
  model_calls: number | null;
  model: string | null;
  retrieved_doc_ids: string[] | null;
  started_at_ms: number;
  ended_at_ms: number;
  /** Why the run failed; null when it did not. */
  failure: string | null;
}

/**
 * A trajectory read from a trace's messages, with what else the trace says: how its calls went, sub-agents, tokens, times.
 * Spans are paired with calls by id, else by tool in order; calls no message holds are added, each a turn of its own.
 */
export function completeTrajectory(trajectory: Trajectory, trace: ImportedTrace): Trajectory {
  const calls = trajectory.tool_calls.map((call) => ({ ...call }));
  const open = [...calls];
  for (const span of trace.tool_spans) {
    const call = takeCall(open, span);
    if (call === undefined) calls.push(callOf(span, calls));
    else note(call, span);
  }
  const iterations = trace.iterations ?? trajectory.iterations;
  return {
    ...trajectory,
    tool_calls: calls,
    final_status: trace.failure === null ? trajectory.final_status : 'FAILED',
    final_status_reason: trace.failure ?? trajectory.final_status_reason,
    iterations,
    model_calls: trace.model_calls ?? iterations,
    usage: trace.usage,
    model: trace.model,
    sub_agents: trace.sub_agents,
    retrieved_doc_ids: trace.retrieved_doc_ids,
    started_at_ms: trace.started_at_ms,
    ended_at_ms: trace.ended_at_ms,
  };
}

function takeCall(open: ToolCall[], span: ToolSpan): ToolCall | undefined {
  const byId = span.id === null ? -1 : open.findIndex((call) => call.id === span.id);
  const at = byId >= 0 ? byId : open.findIndex((call) => call.tool === span.tool && (span.id === null || !call.id));
  return at < 0 ? undefined : open.splice(at, 1)[0];
}

function note(call: ToolCall, span: ToolSpan): void {
  if (span.result !== undefined) call.result = span.result;
  call.error = span.error ?? call.error;
  call.started_at_ms = span.started_at_ms;
  call.ended_at_ms = span.ended_at_ms;
}

function callOf(span: ToolSpan, calls: readonly ToolCall[]): ToolCall {
  return {
    index: calls.length,
    turn: calls.reduce((most, call) => Math.max(most, call.turn + 1), 0),
    id: span.id,
    tool: span.tool,
    args: span.args,
    raw_arguments: span.raw_arguments,
    malformed: span.args === null ? 'the arguments are not recorded, or are no JSON object' : null,
    result: span.result ?? null,
    error: span.error,
    approved: null,
    started_at_ms: span.started_at_ms,
    ended_at_ms: span.ended_at_ms,
  };
}

/** The calls of a sub-agent, from its spans alone. */
export function callsOfSpans(spans: readonly ToolSpan[]): ToolCall[] {
  const calls: ToolCall[] = [];
  for (const span of spans) calls.push(callOf(span, calls));
  return calls;
}

/** Sum of the usages of model calls; unknown when there are none. */
export function sumUsage(usages: readonly Usage[]): Usage {
  if (usages.length === 0) return UNKNOWN_USAGE;
  return usages.reduce(addUsage, NO_USAGE);
}

/** Arguments as they were recorded: an object, or a text that should hold one. */
export function readArguments(value: Json | undefined): Pick<ToolSpan, 'args' | 'raw_arguments'> {
  if (isJsonObject(value)) return { args: value, raw_arguments: null };
  if (value === undefined || value === null) return { args: null, raw_arguments: null };
  const parsed = typeof value === 'string' ? tryJson(value) : undefined;
  if (isJsonObject(parsed)) return { args: parsed, raw_arguments: null };
  return { args: null, raw_arguments: typeof value === 'string' ? value : JSON.stringify(value) };
}

/** A text as the JSON it holds; the text itself when it holds none. */
export function tryJson(text: string): Json {
  const parsed = parseJson(text);
  return parsed.ok ? parsed.value : text;
}
