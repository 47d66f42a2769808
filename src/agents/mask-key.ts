/** Shorter keys are words such as `none` or `ollama`, which an answer may well hold. */
const SHORTEST_SECRET = 12;
const MASK = '[api key]';

/** Text for people without the key, should an endpoint echo it. */
export function withoutKey(text: string, apiKey: string | null): string {
  return apiKey === null || apiKey.length < 4 ? text : text.replaceAll(apiKey, MASK);
}

/** A body as it came, without the key: an excerpt of it may go into an error, and cut the key in two. */
export function maskBody(text: string, apiKey: string | null): string {
  return apiKey === null || apiKey.length < SHORTEST_SECRET ? text : text.replaceAll(apiKey, MASK);
}

/**
 * A reply without the key in any of its texts: replies are stored, and what Assay was trusted with must not be. The reply
 * itself when it does not hold the key.
 */
export function maskReply<T extends object>(reply: T, apiKey: string | null): T {
  if (apiKey === null || apiKey.length < SHORTEST_SECRET) return reply;
  const text = JSON.stringify(reply);
  const written = JSON.stringify(apiKey).slice(1, -1);
  // Once more escaped: arguments of a tool call are JSON inside a text.
  const inner = JSON.stringify(written).slice(1, -1);
  if (!text.includes(written) && !text.includes(inner)) return reply;
  return JSON.parse(text.replaceAll(inner, MASK).replaceAll(written, MASK)) as T;
}
