import { tQuantile } from './special-functions.ts';

export interface Interval {
  low: number;
  high: number;
}

/** The 0.975 quantile of the standard normal distribution. */
export const Z_975 = 1.959963984540054;

/**
 * Wilson score interval of a proportion, 95 % (Wilson 1927), without continuity correction.
 * @param successes number of ones, may be fractional only through rounding of a mean times n
 * @param n number of values; null when 0
 */
export function wilson(successes: number, n: number): Interval | null {
  if (n <= 0) return null;
  const p = successes / n;
  const z2 = Z_975 * Z_975;
  const centre = (p + z2 / (2 * n)) / (1 + z2 / n);
  const half = (Z_975 / (1 + z2 / n)) * Math.sqrt((p * (1 - p)) / n + z2 / (4 * n * n));
  return { low: p === 0 ? 0 : Math.max(0, centre - half), high: p === 1 ? 1 : Math.min(1, centre + half) };
}

/** Quantiles are the same for every metric of an evaluation, and cost a search each. */
const quantiles = new Map<number, number>();

/** The 0.975 quantile of t with `df` degrees of freedom. */
export function t975(df: number): number {
  const known = quantiles.get(df);
  if (known !== undefined) return known;
  const value = tQuantile(0.975, df);
  if (quantiles.size < 10_000) quantiles.set(df, value);
  return value;
}

/**
 * 95 % t interval of a mean of independent values (case means, so that trials of one case are not taken as
 * independent): mean ± t(n-1) · stdev / sqrt(n). Null for n < 2.
 */
export function tInterval(mean: number, stdev: number | null, n: number): Interval | null {
  if (n < 2 || stdev === null) return null;
  const half = (t975(n - 1) * stdev) / Math.sqrt(n);
  return { low: mean - half, high: mean + half };
}

/**
 * Percentile by linear interpolation, R's default type 7 (Hyndman and Fan 1996).
 * @param sorted values in ascending order; null when empty
 * @param q between 0 and 1
 */
export function percentile(sorted: ArrayLike<number>, q: number): number | null {
  if (sorted.length === 0) return null;
  const h = (sorted.length - 1) * q;
  const below = Math.floor(h);
  const a = sorted[below] ?? 0;
  const b = sorted[Math.min(below + 1, sorted.length - 1)] ?? a;
  return a + (h - below) * (b - a);
}
