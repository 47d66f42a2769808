import type { Price } from './suite.ts';
import type { Usage } from './trajectory.ts';

/**
 * Money of a model call, US dollars: (input - cached) at the input price, cached at its own (default: the input price),
 * output at the output price, each per million tokens.
 * @returns null when the model has no price, or the endpoint reported no usage or one that cannot be.
 */
export function costOf(usage: Usage, model: string | null, prices: Record<string, Price>): number | null {
  const price = model === null ? undefined : prices[model];
  if (price === undefined || usage.input === null || usage.output === null) return null;
  const cached = usage.cached ?? 0;
  // More cached than sent: the endpoint counts in a way of its own, so the money is unknown.
  if (cached > usage.input) return null;
  const dollars =
    (usage.input - cached) * price.input + cached * (price.cached_input ?? price.input) + usage.output * price.output;
  return dollars / 1_000_000;
}
