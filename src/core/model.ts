import type { ChatMessage, ToolDefinition } from './case.ts';
import type { Json, JsonObject } from './json.ts';
import type { Usage } from './trajectory.ts';

/** One request to a chat model, whoever serves it. */
export interface ModelRequest {
  model: string;
  messages: ChatMessage[];
  tools?: ToolDefinition[];
  temperature?: number;
  seed?: number;
  max_output_tokens?: number;
  stream?: boolean;
  response_format?: JsonObject;
  extra_body?: JsonObject;
}

/** Parameters that not every model takes. */
export type Refusable = 'temperature' | 'seed' | 'response_format';

/** What came back, as plain data that can be stored and replayed. */
export interface ModelReply {
  /** Assistant text; null when there was none. */
  content: string | null;
  /** Set when the model refused in the protocol's own field. */
  refusal: string | null;
  /** Raw tool calls as sent, malformed ones included. */
  tool_calls: Json[];
  finish_reason: string | null;
  usage: Usage;
  /** The model that answered, as the endpoint named it. */
  model: string | null;
  request_id: string | null;
  time_to_first_token_ms: number | null;
  /** True when the reply came from the journal, not from the endpoint. */
  replayed?: boolean;
  /** Parameters of the request that the endpoint refused and that were left out; `json_schema`: asked for a JSON object instead. */
  left_out?: (Refusable | 'json_schema')[];
}

/**
 * A model endpoint. Rejects with {@link ModelError} only.
 * Implementations do not retry: Temporal does.
 */
export interface ModelClient {
  complete(request: ModelRequest, options: { signal: AbortSignal; timeoutMs: number }): Promise<ModelReply>;
}

/**
 * A model client bound to one trial: each call has a place in the trial's journal, so a retried activity replays what
 * was paid for. `place` names the call: role, dimension and vote; the sequence number is counted by the caller's order.
 */
export interface TrialModel {
  complete(
    request: ModelRequest,
    options: { signal: AbortSignal; timeoutMs: number; place: CallPlace },
  ): Promise<ModelReply>;
}

export interface CallPlace {
  role: 'agent' | 'judge';
  /** Sub-agent path, `''` for the main agent. */
  path: string;
  /** Judge dimension, `''` for the agent. */
  dimension: string;
  vote: number;
  /** 0-based number of this call at this place. */
  sequence: number;
}
