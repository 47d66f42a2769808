import { Z_975 } from './intervals.ts';
import type { Estimate } from '../core/calibration.ts';

/** Ranks from 1; equal values share the mean of their ranks. */
function ranksOf(values: readonly number[]): number[] {
  const order = values.map((value, index) => ({ value, index })).sort((a, b) => a.value - b.value);
  const ranks = Array.from<number>({ length: values.length }).fill(0);
  let from = 0;
  while (from < order.length) {
    let to = from;
    while (to + 1 < order.length && order[to + 1]?.value === order[from]?.value) to += 1;
    for (let at = from; at <= to; at += 1) ranks[order[at]?.index ?? 0] = (from + to) / 2 + 1;
    from = to + 1;
  }
  return ranks;
}

/**
 * Spearman's rank correlation: Pearson's of the ranks, ties sharing their mean rank. The interval is Fisher's z with the
 * standard error of Bonett and Wright 2000, √((1 + r²/2) / (n − 3)); none below 4 pairs and at ±1.
 * @param pairs in any order: the result is the same to the bit
 * @returns null for fewer than 2 pairs, and when one side has a single value
 */
export function spearman(pairs: readonly (readonly [number, number])[]): Estimate | null {
  const n = pairs.length;
  if (n < 2) return null;
  const x = ranksOf(pairs.map(([value]) => value));
  const y = ranksOf(pairs.map(([, value]) => value));
  // Ranks are multiples of a half: doubled and centred they are whole, and their sums exact, whatever the order.
  const doubled = (rank: number): number => 2 * rank - (n + 1);
  let products = 0;
  let squaresX = 0;
  let squaresY = 0;
  x.forEach((rank, i) => {
    const a = doubled(rank);
    const b = doubled(y[i] ?? 0);
    products += a * b;
    squaresX += a * a;
    squaresY += b * b;
  });
  if (squaresX === 0 || squaresY === 0) return null;
  const value = Math.max(-1, Math.min(1, products / Math.sqrt(squaresX * squaresY)));
  if (n < 4 || Math.abs(value) === 1) return { value, low: null, high: null };
  const half = Z_975 * Math.sqrt((1 + value ** 2 / 2) / (n - 3));
  return { value, low: Math.tanh(Math.atanh(value) - half), high: Math.tanh(Math.atanh(value) + half) };
}
