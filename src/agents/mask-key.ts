import { MASKED_SECRET, maskSecrets, SHORTEST_SECRET } from '../core/masked-secret.ts';

/** Text for people without the key, should an endpoint echo it. */
export function withoutKey(text: string, apiKey: string | null): string {
  return apiKey === null || apiKey.length < 4 ? text : text.replaceAll(apiKey, MASKED_SECRET);
}

/** A body as it came, without the key: an excerpt of it may go into an error, and cut the key in two. */
export function maskBody(text: string, apiKey: string | null): string {
  return apiKey === null || apiKey.length < SHORTEST_SECRET ? text : text.replaceAll(apiKey, MASKED_SECRET);
}

/** A reply without the key in any of its texts. The reply itself when it does not hold the key. */
export function maskReply<T extends object>(reply: T, apiKey: string | null): T {
  return apiKey === null ? reply : maskSecrets(reply, [apiKey]);
}
