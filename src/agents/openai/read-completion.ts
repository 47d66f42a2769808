import { APIError } from 'openai';
import { ModelError } from '../../core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import type { ModelReply } from '../../core/model.ts';
import { UNKNOWN_USAGE, type Usage } from '../../core/trajectory.ts';

/** What the body of a reply does not carry. */
export interface ReplyFacts {
  requestId: string | null;
  timeToFirstTokenMs: number | null;
}

/**
 * Reads the JSON body of a chat completion. Tool calls are kept as they came, malformed ones too.
 * @throws {ModelError} `invalid_reply` when the body is no chat completion.
 * @throws {APIError} when the body with status 200 carries an error object, as some gateways send.
 */
export function readCompletion(text: string, facts: ReplyFacts): ModelReply {
  const body = parseBody(text);
  if (!isJsonObject(body)) throw invalidReply('a JSON value that is no object', text);
  if (isJsonObject(body['error'])) throw new APIError(undefined, body['error'], undefined, undefined);
  const choice = Array.isArray(body['choices']) ? body['choices'][0] : undefined;
  const message = isJsonObject(choice) ? choice['message'] : undefined;
  if (!isJsonObject(choice) || !isJsonObject(message)) throw invalidReply('no choices[0].message', text);
  return {
    content: readText(message['content']),
    refusal: nonEmptyString(message['refusal']),
    tool_calls: readToolCalls(message),
    finish_reason: nonEmptyString(choice['finish_reason']),
    usage: readUsage(body['usage']),
    model: nonEmptyString(body['model']),
    request_id: facts.requestId,
    time_to_first_token_ms: facts.timeToFirstTokenMs,
  };
}

/** An `invalid_reply` that shows the beginning of what came. */
export function invalidReply(what: string, text: string): ModelError {
  return new ModelError('invalid_reply', `the endpoint answered with ${what}: ${JSON.stringify(text.slice(0, 200))}`);
}

function parseBody(text: string): Json {
  if (/^\s*</.test(text)) throw invalidReply('HTML instead of JSON', text);
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    throw invalidReply(text.trim() === '' ? 'an empty body' : `broken JSON (${(error as Error).message})`, text);
  }
}

/** Text of a message: a string, or the text parts some endpoints send as a list. */
function readText(content: Json | undefined): string | null {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return null;
  const parts = content.map((part) => (isJsonObject(part) && typeof part['text'] === 'string' ? part['text'] : ''));
  return parts.join('');
}

function readToolCalls(message: JsonObject): Json[] {
  const calls = message['tool_calls'];
  if (Array.isArray(calls)) return calls;
  if (calls !== undefined && calls !== null) return [calls];
  const old = message['function_call'];
  return old === undefined || old === null ? [] : [{ id: null, type: 'function', function: old }];
}

/** Tokens of a reply; what the endpoint does not say is null, never 0 (J11). */
export function readUsage(usage: Json | undefined): Usage {
  if (!isJsonObject(usage)) return UNKNOWN_USAGE;
  const input = count(usage['prompt_tokens']);
  const output = count(usage['completion_tokens']);
  const sum = input === null || output === null ? null : input + output;
  return {
    input,
    cached: count(field(usage['prompt_tokens_details'], 'cached_tokens')) ?? count(usage['prompt_cache_hit_tokens']),
    output,
    reasoning: count(field(usage['completion_tokens_details'], 'reasoning_tokens')),
    total: count(usage['total_tokens']) ?? sum,
  };
}

function field(value: Json | undefined, key: string): Json | undefined {
  return isJsonObject(value) ? value[key] : undefined;
}

function count(value: Json | undefined): number | null {
  // A fraction of a token is no count: then it is unknown.
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;
}

function nonEmptyString(value: Json | undefined): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}
