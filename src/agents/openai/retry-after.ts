/** The part of `Headers` that is read here. */
export interface HeaderReader {
  get(name: string): string | null;
}

const HTTP_DATE = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? /;

/**
 * Milliseconds an endpoint asks to wait, from `retry-after-ms`, else `retry-after` (seconds or an HTTP date).
 * Null when it says nothing usable (absent, zero, negative, past, words): the caller then backs off by its own rule.
 * Not capped here; `retry.max_retry_after_ms` is the caller's.
 * @param now milliseconds since the epoch, for dates.
 */
export function parseRetryAfter(headers: HeaderReader, now: number): number | null {
  const milliseconds = positiveNumber(headers.get('retry-after-ms'));
  if (milliseconds !== null) return milliseconds;
  const text = headers.get('retry-after')?.trim() ?? '';
  const seconds = positiveNumber(text);
  if (seconds !== null) return seconds * 1000;
  // Date.parse takes "-1" for the year 2001, so only what begins as an HTTP date is given to it.
  if (!HTTP_DATE.test(text)) return null;
  const at = Date.parse(text);
  return Number.isNaN(at) || at <= now ? null : at - now;
}

/** What `x-should-retry` says; null when absent or neither `true` nor `false`. */
export function parseShouldRetry(headers: HeaderReader): boolean | null {
  const text = headers.get('x-should-retry')?.trim().toLowerCase();
  if (text === 'true') return true;
  return text === 'false' ? false : null;
}

function positiveNumber(text: string | null): number | null {
  if (text === null || !/^\d+(\.\d+)?$/.test(text.trim())) return null;
  const value = Number(text);
  return Number.isFinite(value) && value > 0 ? value : null;
}
