import { isJsonObject } from '../core/json.ts';
import type { Json, JsonObject } from '../core/json.ts';
import type { Match } from './match.ts';
import type { RequestView } from './request-view.ts';
import type { Reply, Script, ScriptedToolCall } from './script.ts';

/** An assistant message and its envelope, before it is put into one body or into chunks. */
export interface Completion {
  id: string;
  model: string;
  content: string | null;
  refusal: string | null;
  toolCalls: Json[];
  finishReason: string;
  /** In the protocol's own names; null = the reply has none. */
  usage: JsonObject | null;
}

/** Builds the completion of a reply. `requestHash` makes ids that are the same for the same request. */
export function buildCompletion(
  reply: Reply,
  input: { script: Script; match: Match; request: RequestView; requestHash: string },
): Completion {
  const fill = (text: string): string => fillIn(text, input.match, input.request);
  const content = contentOf(reply, fill);
  const calls = reply.tool_calls ?? [];
  const toolCalls = calls.map((call, index) => toolCallOf(call, `call_${input.requestHash}_${index}`, fill));
  return {
    id: `chatcmpl-${input.requestHash}`,
    model: reply.model ?? input.script.model,
    content,
    refusal: reply.refusal ?? null,
    toolCalls,
    finishReason: reply.finish_reason ?? (calls.length > 0 ? 'tool_calls' : 'stop'),
    usage: usageOf(reply, input.request, content, toolCalls),
  };
}

function contentOf(reply: Reply, fill: (text: string) => string): string | null {
  if (reply.json !== undefined) return JSON.stringify(fillAll(reply.json, fill));
  return typeof reply.content === 'string' ? fill(reply.content) : null;
}

function toolCallOf(call: ScriptedToolCall, id: string, fill: (text: string) => string): Json {
  if (call.raw !== undefined) return call.raw;
  const args = call.raw_arguments ?? JSON.stringify(fillAll(call.arguments ?? {}, fill));
  return { id: call.id ?? id, type: 'function', function: { name: call.name ?? '', arguments: args } };
}

const PLACEHOLDER = /\{\{\s*(last_user|last_tool|match\.(\d+))\s*\}\}/g;

/** Replaces placeholders once; what is put in is not looked at again. A group that does not exist becomes empty. */
function fillIn(text: string, match: Match, request: RequestView): string {
  if (!text.includes('{{')) return text;
  return text.replace(PLACEHOLDER, (_whole, name: string, group: string | undefined) => {
    if (name === 'last_user') return request.lastUser;
    if (name === 'last_tool') return request.lastTool;
    return match.groups[Number(group)] ?? '';
  });
}

function fillAll(value: Json, fill: (text: string) => string): Json {
  if (typeof value === 'string') return fill(value);
  if (Array.isArray(value)) return value.map((part) => fillAll(part, fill));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, fillAll(part, fill)]));
}

/** Tokens: as scripted, else one per four characters. Crude, but the same for the same request. */
function usageOf(reply: Reply, request: RequestView, content: string | null, toolCalls: Json[]): JsonObject | null {
  if (reply.usage === null) return null;
  const given = reply.usage ?? {};
  const inputLength = request.texts.reduce((sum, text) => sum + text.length, 0);
  const outputLength =
    (content ?? '').length +
    (reply.refusal ?? '').length +
    (toolCalls.length > 0 ? JSON.stringify(toolCalls).length : 0);
  const input = given.input ?? Math.max(1, Math.ceil(inputLength / 4));
  const output = given.output ?? Math.max(1, Math.ceil(outputLength / 4));
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: given.cached ?? 0 },
    completion_tokens_details: { reasoning_tokens: given.reasoning ?? 0 },
  };
}

/** The body of a reply that is not streamed. */
export function completionBody(completion: Completion, createdS: number): string {
  const message: JsonObject = { role: 'assistant', content: completion.content, refusal: completion.refusal };
  if (completion.toolCalls.length > 0) message['tool_calls'] = completion.toolCalls;
  return JSON.stringify({
    id: completion.id,
    object: 'chat.completion',
    created: createdS,
    model: completion.model,
    choices: [{ index: 0, message, logprobs: null, finish_reason: completion.finishReason }],
    ...(completion.usage === null ? {} : { usage: completion.usage }),
  });
}

/** Characters a streamed piece of text holds. */
const PIECE = 16;

/** The events of a streamed reply, `[DONE]` included; the first carries the role and no text. */
export function completionChunks(completion: Completion, createdS: number, includeUsage: boolean): string[] {
  const envelope = { id: completion.id, object: 'chat.completion.chunk', created: createdS, model: completion.model };
  const event = (delta: JsonObject, finishReason: string | null): string =>
    `data: ${JSON.stringify({ ...envelope, choices: [{ index: 0, delta, logprobs: null, finish_reason: finishReason }] })}\n\n`;
  const events = [event({ role: 'assistant', content: completion.toolCalls.length > 0 ? null : '' }, null)];
  for (const piece of piecesOf(completion.content ?? '')) events.push(event({ content: piece }, null));
  for (const piece of piecesOf(completion.refusal ?? '')) events.push(event({ refusal: piece }, null));
  completion.toolCalls.forEach((call, index) =>
    events.push(...toolCallDeltas(call, index).map((delta) => event(delta, null))),
  );
  events.push(event({}, completion.finishReason));
  if (includeUsage && completion.usage !== null) {
    events.push(`data: ${JSON.stringify({ ...envelope, choices: [], usage: completion.usage })}\n\n`);
  }
  events.push('data: [DONE]\n\n');
  return events;
}

/** A well-formed call comes as its head and then its arguments in pieces; a malformed one as it is. */
function toolCallDeltas(call: Json, index: number): JsonObject[] {
  const definition = isJsonObject(call) ? call['function'] : undefined;
  const args = isJsonObject(definition) ? definition['arguments'] : undefined;
  if (!isJsonObject(call) || !isJsonObject(definition) || typeof args !== 'string') {
    return [{ tool_calls: [isJsonObject(call) ? { index, ...call } : call] }];
  }
  const head = { index, ...call, function: { ...definition, arguments: '' } };
  const rest = piecesOf(args).map((piece) => ({ tool_calls: [{ index, function: { arguments: piece } }] }));
  return [{ tool_calls: [head] }, ...rest];
}

function piecesOf(text: string): string[] {
  const points = Array.from(text);
  return Array.from({ length: Math.ceil(points.length / PIECE) }, (_, index) =>
    points.slice(index * PIECE, (index + 1) * PIECE).join(''),
  );
}

/** An error body in OpenAI's form. */
export function errorBody(status: number, error: NonNullable<Reply['error']>): string {
  return JSON.stringify({
    error: {
      message: error.message ?? `The scripted model answers with status ${status}.`,
      type: error.type ?? defaultType(status),
      param: null,
      code: error.code ?? null,
    },
  });
}

function defaultType(status: number): string {
  if (status === 401) return 'authentication_error';
  if (status === 403) return 'permission_error';
  if (status === 429) return 'rate_limit_error';
  return status >= 500 ? 'server_error' : 'invalid_request_error';
}
