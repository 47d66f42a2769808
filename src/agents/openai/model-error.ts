import { APIConnectionError, APIConnectionTimeoutError, APIError } from 'openai';
import { ModelError, type ModelErrorKind } from '../../core/errors.ts';
import { isJsonObject } from '../../core/json.ts';
import { withoutKey } from '../mask-key.ts';
import { parseRetryAfter, parseShouldRetry } from './retry-after.ts';

/** What is needed to name a failed call. */
export interface CallFacts {
  baseUrl: string;
  model: string;
  /** Removed from every message, should an endpoint echo it. */
  apiKey: string | null;
  /** What to do when the key is refused, a sentence; undefined: what can be said of any key. */
  keyAdvice?: string | undefined;
  /** Milliseconds since the epoch. */
  now: number;
}

const QUOTA = /insufficient[_ ]?quota|billing_hard_limit|billing_not_active|insufficient[_ ]?balance|arrearage/i;
const CONTEXT =
  /context_length|string_above_max_length|context (length|window|size)|maximum context|too many tokens|(prompt|input|request) (is )?too (long|large)/i;
const FILTER =
  /content_?filter|content_policy|content management policy|data_inspection_failed|responsible.?ai|flagged by|safety system/i;
const NO_MODEL =
  /model_not_found|invalid_model|(model|engine|deployment)\b.{0,120}\b(does not exist|not exist|not found|is not available|not supported)|(no such|unknown) model/i;
/** A refused parameter is not a refused model, though the message names the model too. */
const PARAMETER =
  /\b(response_?format|json_schema|json_object|temperature|seed|top_p|tool_choice|max_(completion_)?tokens)\b/i;
const BAD_KEY = /invalid_api_key|api_key_invalid|incorrect api key|invalid api key|api key not valid/i;
const OVERLOADED = /overloaded/i;
const RATE = /rate_?limit|too many requests/i;

/**
 * The {@link ModelError} for whatever the `openai` package, fetch or the reply reader threw. Never throws, never lets
 * the key through.
 */
export function toModelError(error: unknown, facts: CallFacts): ModelError {
  if (error instanceof ModelError) {
    const { kind, message, status, retryAfterMs } = error;
    return new ModelError(kind, withoutKey(message, facts.apiKey), { status, retryAfterMs });
  }
  if (error instanceof APIConnectionTimeoutError) return fail('timeout', 'no reply in time', facts);
  if (error instanceof APIError && !(error instanceof APIConnectionError)) return fromApiError(error, facts);
  if (error instanceof SyntaxError) return fail('invalid_reply', `the reply is not JSON: ${error.message}`, facts);
  // A body cut in the middle arrives as a plain TypeError "terminated", a refused connection as "fetch failed".
  return fail('connection', connectionText(error), facts, { cause: socketError(error) });
}

function fromApiError(error: APIError, facts: CallFacts): ModelError {
  // Gateways put numbers here, whatever the type says.
  const given: unknown = error.code;
  const code = typeof given === 'string' || typeof given === 'number' ? `${given}` : '';
  const status = error.status ?? (/^[45]\d\d$/.test(code) ? Number(code) : null);
  const body = describeBody(error);
  const shouldRetry = error.headers === undefined ? null : parseShouldRetry(error.headers);
  const kind = classifyFailure({ status, text: `${code} ${error.type ?? ''} ${body}`, shouldRetry });
  const retryAfterMs = error.headers === undefined ? null : parseRetryAfter(error.headers, facts.now);
  return fail(kind, status === null ? body : `${status} ${body}`, facts, { status, retryAfterMs });
}

/**
 * The kind of a failure an endpoint reported. `status` null = reported inside a stream or a body with status 200.
 * `shouldRetry` is the endpoint's own word (`x-should-retry`): it turns a retried kind into `bad_request`, and an
 * otherwise unclear refusal into `server_error`; it never makes a refused key, quota or model retried.
 */
export function classifyFailure(failure: {
  status: number | null;
  text: string;
  shouldRetry: boolean | null;
}): ModelErrorKind {
  const kind = kindOf(failure.status, failure.text);
  const retried = kind === 'rate_limit' || kind === 'overloaded' || kind === 'server_error' || kind === 'timeout';
  if (failure.shouldRetry === false && retried) return 'bad_request';
  if (failure.shouldRetry === true && kind === 'bad_request') return 'server_error';
  return kind;
}

function kindOf(status: number | null, text: string): ModelErrorKind {
  if (status === 401) return 'unauthorized';
  if (status === 402) return 'quota';
  if (status === 404) return 'model_not_found';
  if (status === 413) return 'context_length';
  if (status === 529) return 'overloaded';
  // A used-up quota comes as 429, 403 or 400, by provider: R5, never a rate limit.
  if (status !== null && status < 500 && QUOTA.test(text)) return 'quota';
  if (status === 429) return 'rate_limit';
  if (status === 403) return FILTER.test(text) ? 'content_filter' : 'forbidden';
  if (status === 408) return 'timeout';
  if (status === 409 || status === 425) return 'server_error';
  if (status !== null && status >= 500) return OVERLOADED.test(text) ? 'overloaded' : 'server_error';
  const named = kindByText(text);
  if (named !== null) return named;
  return status === null ? 'server_error' : 'bad_request';
}

function kindByText(text: string): ModelErrorKind | null {
  if (QUOTA.test(text)) return 'quota';
  if (BAD_KEY.test(text)) return 'unauthorized';
  if (CONTEXT.test(text)) return 'context_length';
  if (FILTER.test(text)) return 'content_filter';
  if (NO_MODEL.test(text) && !PARAMETER.test(text)) return 'model_not_found';
  if (OVERLOADED.test(text)) return 'overloaded';
  return RATE.test(text) ? 'rate_limit' : null;
}

const ADVICE: Partial<Record<ModelErrorKind, (facts: CallFacts) => string>> = {
  unauthorized: (facts) =>
    facts.keyAdvice ?? 'Set a valid key in OPENAI_API_KEY, or in the variable that api_key_env names.',
  forbidden: (facts) => `The key may not use ${facts.model}: check its permissions, project and region.`,
  quota: () => 'The account has no quota left: top it up or use another key, then resume.',
  model_not_found: (facts) =>
    `Check the model name ${JSON.stringify(facts.model)} (model of agent or judge in the suite, or ASSAY_MODEL and ASSAY_JUDGE_MODEL where it reads them) and base_url (it usually ends in /v1).`,
  connection: () => 'Check that the endpoint runs and that base_url or OPENAI_BASE_URL is right.',
};

/** A ModelError whose message says where, what, and what to do. */
function fail(
  kind: ModelErrorKind,
  what: string,
  facts: CallFacts,
  options: { status?: number | null; retryAfterMs?: number | null; cause?: unknown } = {},
): ModelError {
  const advice = ADVICE[kind]?.(facts);
  const text = `model endpoint ${facts.baseUrl}: ${clip(withoutKey(what, facts.apiKey))}${advice === undefined ? '' : `. ${advice}`}`;
  return new ModelError(kind, withoutKey(text, facts.apiKey), options);
}

/** Error pages can be long HTML; the first line of a report needs their beginning only. */
function clip(text: string): string {
  const flat = text.replaceAll(/\s+/g, ' ').trim();
  return flat.length > 500 ? `${flat.slice(0, 500)}…` : flat;
}

function describeBody(error: APIError): string {
  const body: unknown = error.error;
  const code = typeof error.code === 'string' ? ` (${error.code})` : '';
  if (isJsonObject(body) && typeof body['message'] === 'string') return body['message'] + code;
  return error.message.replace(/^\d{3} /, '') + code;
}

/** The system error underneath (it has a code such as ECONNREFUSED); others may quote headers, and so the key. */
export function socketError(error: unknown): unknown {
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    if ('syscall' in cause || cause instanceof AggregateError) return cause;
  }
  return undefined;
}

/** `connect ECONNREFUSED 127.0.0.1:1` lies two causes deep under "Connection error." */
export function connectionText(error: unknown): string {
  let current: unknown = error;
  let text = error instanceof Error ? error.message : String(error);
  for (let depth = 0; depth < 5 && current instanceof Error; depth += 1) {
    if (current.message !== '') text = current.message;
    const code = 'code' in current ? current.code : undefined;
    if (typeof code === 'string' && !text.includes(code)) text = `${text} (${code})`;
    current = current.cause;
  }
  return text;
}
