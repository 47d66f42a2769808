import type { PairVerdict, PairwiseResult, Preference } from '../core/pairwise.ts';
import { compareCaseIds } from './case-order.ts';
import { tInterval, wilson } from './intervals.ts';
import { momentsOf } from './moments.ts';
import { mcnemarExact } from './paired-tests.ts';

const SHARE: Record<Preference, number> = { a: 0, tie: 0.5, b: 1 };

/**
 * Sums up pairs of trials. The preference is the mean over cases of the case's mean share of `b` (win 1, tie 0.5), its
 * interval t over case means, at exactly 0 or 1 Wilson with n = cases; p is the exact two-sided sign test over cases that
 * lean to one side. The order of `pairs` does not matter.
 */
export function summarisePairs(pairs: readonly PairVerdict[]): PairwiseResult {
  const count = (winner: Preference | null): number => pairs.filter((pair) => pair.winner === winner).length;
  const means = caseMeans(pairs);
  const { mean, stdev, n } = momentsOf(means);
  const extreme = mean === 0 || mean === 1;
  const interval = mean === null ? null : extreme ? wilson(mean * n, n) : tInterval(mean, stdev, n);
  const orders = pairs.flatMap((pair) => pair.orders).filter((one) => one.a_first !== null && one.b_first !== null);
  return {
    pairs: pairs.length,
    judged: pairs.length - count(null),
    unscored: count(null),
    wins_a: count('a'),
    wins_b: count('b'),
    ties: count('tie'),
    order_changed: orders.filter((one) => one.a_first !== one.b_first).length,
    order_judged: orders.length,
    cases: n,
    preference: mean,
    low: interval === null ? null : Math.max(0, interval.low),
    high: interval === null ? null : Math.min(1, interval.high),
    p: mcnemarExact(means.filter((one) => one < 0.5).length, means.filter((one) => one > 0.5).length),
  };
}

/** Mean share of `b` of every case with a verdict, by ascending id. */
function caseMeans(pairs: readonly PairVerdict[]): number[] {
  const byCase = new Map<string, number[]>();
  const sorted = [...pairs].sort((x, y) => compareCaseIds(x.case_id, y.case_id) || x.trial_index - y.trial_index);
  for (const { case_id, winner } of sorted) {
    if (winner === null) continue;
    const shares = byCase.get(case_id) ?? [];
    shares.push(SHARE[winner]);
    byCase.set(case_id, shares);
  }
  return [...byCase.values()].map((shares) => momentsOf(shares).mean ?? 0.5);
}
