/** A bucket of tokens for each client: so many requests at once, refilled evenly. */
export interface RateLimit {
  /** Takes one request of `client`. Returns 0, or the milliseconds until the next would be taken. */
  take(client: string): number;
}

/** Clients that are remembered at most: those that were quiet longest are forgotten first, their buckets being full. */
const MOST_CLIENTS = 10_000;

/** @param now milliseconds that only grow */
export function createRateLimit(options: { perMinute: number; burst: number; now: () => number }): RateLimit {
  const { perMinute, burst, now } = options;
  const perMs = perMinute / 60_000;
  const buckets = new Map<string, { tokens: number; at: number }>();
  return {
    take(client) {
      const at = now();
      const known = buckets.get(client);
      const tokens = known === undefined ? burst : Math.min(burst, known.tokens + (at - known.at) * perMs);
      buckets.delete(client);
      if (buckets.size >= MOST_CLIENTS) buckets.delete(buckets.keys().next().value ?? '');
      buckets.set(client, { tokens: tokens >= 1 ? tokens - 1 : tokens, at });
      return tokens >= 1 ? 0 : (1 - tokens) / perMs;
    },
  };
}
