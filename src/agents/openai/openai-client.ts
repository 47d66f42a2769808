import OpenAI from 'openai';
import { Stream } from 'openai/streaming';
import { ModelError, UserError } from '../../core/errors.ts';
import type { Json, JsonObject } from '../../core/json.ts';
import type { ModelClient, ModelReply, ModelRequest } from '../../core/model.ts';
import { assembleStream } from './assemble-stream.ts';
import { maskBody, maskReply } from '../mask-key.ts';
import { httpFetch } from './http-fetch.ts';
import { type CallFacts, toModelError } from './model-error.ts';
import { type OutputLimitFields, outputLimitFields } from './output-limit.ts';
import { invalidReply, readCompletion } from './read-completion.ts';
import { untilAborted } from '../sleep.ts';
import { startTimeCap, type TimeCap } from '../time-cap.ts';

export interface ModelClientOptions {
  /** E.g. `https://api.openai.com/v1`. */
  baseUrl: string;
  /** Null: no Authorization header is sent. */
  apiKey: string | null;
  /** What to do when the endpoint refuses the key, a sentence. Default: names the variables that may hold it. */
  keyAdvice?: string;
  /** Default: {@link httpFetch}. */
  fetch?: typeof fetch;
  /** Longest reply body read, bytes; a longer one is `invalid_reply`. Default 32 MiB. */
  maxReplyBytes?: number;
  /** Milliseconds, any origin; measures the time to the first token. Default `performance.now`. */
  clock?: () => number;
}

const MAX_REPLY_BYTES = 32 * 1024 * 1024;

/**
 * A client of an OpenAI-compatible chat endpoint. One HTTP request a call, no retries: Temporal retries. Only a refusal of
 * the output limit's field is followed by a second request, with the field's other name.
 * `timeoutMs` covers the whole call, a body or stream that stalls included.
 * @throws {UserError} when `baseUrl` is no http(s) URL. Calls reject with {@link ModelError} only.
 */
export function createModelClient(options: ModelClientOptions): ModelClient {
  checkUrl(options.baseUrl);
  const sendable = options.apiKey === null || /^[\x21-\x7e]+$/.test(options.apiKey);
  const openai = new OpenAI({
    baseURL: options.baseUrl,
    // The package insists on a key; the header it would go into is taken out below when there is none.
    apiKey: options.apiKey ?? 'none',
    maxRetries: 0,
    // The package would log bodies that do not parse.
    logLevel: 'off',
    ...(options.apiKey === null ? { defaultHeaders: { Authorization: null } } : {}),
    fetch: options.fetch ?? httpFetch,
  });
  const limits = outputLimitFields(options.baseUrl);
  return {
    async complete(request, { signal, timeoutMs }) {
      if (!sendable) throw unsendableKey(options.baseUrl);
      const cap = startTimeCap(signal, timeoutMs);
      const ask = async (field: string): Promise<ModelReply> => {
        try {
          // Whatever becomes of the connection, the time is kept.
          const reply = await untilAborted(call(openai, request, cap, timeoutMs, options, field), cap.signal);
          return maskReply(reply, options.apiKey);
        } catch (error) {
          const { baseUrl, apiKey, keyAdvice } = options;
          const facts = { baseUrl, model: request.model, apiKey, keyAdvice, now: Date.now() };
          throw endedBy(cap, facts, timeoutMs) ?? toModelError(error, facts);
        }
      };
      try {
        return await (request.max_output_tokens === undefined ? ask('') : withLimit(request.model, limits, ask));
      } finally {
        cap.dispose();
      }
    },
  };
}

/** Asks with one field for the output limit and, where the endpoint refuses that, with the other. */
async function withLimit(
  model: string,
  limits: OutputLimitFields,
  ask: (field: string) => Promise<ModelReply>,
): Promise<ModelReply> {
  const field = limits.of(model);
  try {
    return await ask(field);
  } catch (error) {
    const other = error instanceof ModelError ? limits.insteadOf(field, error) : null;
    if (other === null) throw error;
    const reply = await ask(other);
    limits.took(model, other);
    return reply;
  }
}

/** What fetch would say of such a key quotes it. */
function unsendableKey(baseUrl: string): ModelError {
  const what = 'the API key holds a space, a line break or a letter beyond ASCII, which no header can carry';
  const advice = 'Set a valid key in OPENAI_API_KEY, or in the variable that api_key_env names.';
  return new ModelError('unauthorized', `model endpoint ${baseUrl}: ${what}. ${advice}`);
}

function checkUrl(baseUrl: string): void {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : null;
  if (url !== null && `${url.username}${url.password}${url.search}` !== '') {
    throw new UserError('base_url holds a user name, a password or a query, which no request can carry', {
      hint: 'Leave them out of base_url or OPENAI_BASE_URL; the key goes into the variable that api_key_env names.',
    });
  }
  if (url !== null && /^https?:$/.test(url.protocol)) return;
  throw new UserError(`base_url is ${JSON.stringify(baseUrl)}, which is no http or https URL`, {
    hint: 'Expected something like https://api.openai.com/v1 in base_url or OPENAI_BASE_URL.',
  });
}

/** The error of a call that was given up, by its caller or by time; null when it failed by itself. */
function endedBy(cap: TimeCap, facts: CallFacts, timeoutMs: number): ModelError | null {
  if (!cap.signal.aborted) return null;
  if (!cap.expired()) return new ModelError('aborted', 'the model call was given up');
  return new ModelError('timeout', `model endpoint ${facts.baseUrl}: no complete reply within ${timeoutMs} ms`);
}

async function call(
  openai: OpenAI,
  request: ModelRequest,
  cap: TimeCap,
  timeoutMs: number,
  options: ModelClientOptions,
  limitField: string,
): Promise<ModelReply> {
  const clock = options.clock ?? ((): number => performance.now());
  const maxBytes = options.maxReplyBytes ?? MAX_REPLY_BYTES;
  const startedAt = clock();
  const response = await openai
    .post('/chat/completions', {
      body: requestBody(request, limitField),
      signal: cap.signal,
      // Ours ends first; theirs does not see a stalled stream.
      timeout: timeoutMs + 5_000,
      stream: request.stream === true,
    })
    .asResponse();
  const requestId = response.headers.get('x-request-id');
  const type = response.headers.get('content-type') ?? '';
  let reply: ModelReply;
  if (type.includes('text/event-stream')) {
    const chunks = Stream.fromSSEResponse<Json>(response, new AbortController(), openai);
    reply = await assembleStream(chunks, { requestId, startedAt, clock, maxBytes });
  } else {
    const body = maskBody(await readBody(response, maxBytes), options.apiKey);
    reply = readCompletion(body, { requestId, timeToFirstTokenMs: null });
  }
  // An aborted stream ends as if it were complete.
  if (cap.signal.aborted) throw new ModelError('aborted', 'the model call was given up');
  return reply;
}

async function readBody(response: Response, maxBytes: number): Promise<string> {
  if (response.body === null) return '';
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) throw invalidReply(`more than ${maxBytes} bytes`, text);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

function requestBody(request: ModelRequest, limitField: string): JsonObject {
  const body: JsonObject = {
    model: request.model,
    messages: request.messages as unknown as Json,
  };
  if (request.tools !== undefined && request.tools.length > 0) {
    body['tools'] = request.tools.map((tool) => ({
      type: 'function',
      function: {
        name: tool.name,
        ...(tool.description === undefined ? {} : { description: tool.description }),
        parameters: tool.parameters ?? { type: 'object', properties: {} },
      },
    }));
  }
  if (request.temperature !== undefined) body['temperature'] = request.temperature;
  if (request.seed !== undefined) body['seed'] = request.seed;
  if (request.max_output_tokens !== undefined) body[limitField] = request.max_output_tokens;
  if (request.response_format !== undefined) body['response_format'] = request.response_format;
  if (request.stream === true) {
    body['stream'] = true;
    body['stream_options'] = { include_usage: true };
  }
  return { ...body, ...request.extra_body };
}
