import type { Agreement, Estimate } from '../core/calibration.ts';
import { compareCaseIds } from './case-order.ts';
import { t975, wilson, Z_975 } from './intervals.ts';
import type { Interval } from './intervals.ts';

/** One thing two raters put into a category each. */
export interface RatedPair {
  /** What the thing belongs to: pairs of one case are not independent of each other. */
  cluster: string;
  /** Places on the declared scale, from 0. */
  first: number;
  second: number;
}

/** The pairs of one case, counted by cell (row · categories + column). */
type CellCounts = Map<number, number>;

interface Counted {
  total: number;
  confusion: number[][];
  clusters: CellCounts[];
}

function count(pairs: readonly RatedPair[], categories: number): Counted {
  const confusion = Array.from({ length: categories }, () => Array.from<number>({ length: categories }).fill(0));
  const byCluster = new Map<string, CellCounts>();
  for (const { cluster, first, second } of pairs) {
    const row = confusion[first];
    if (row === undefined || row[second] === undefined) {
      throw new RangeError(`categories ${first} and ${second} are not on a scale of ${categories}`);
    }
    row[second] += 1;
    const cells = byCluster.get(cluster) ?? new Map<number, number>();
    byCluster.set(cluster, cells);
    const cell = first * categories + second;
    cells.set(cell, (cells.get(cell) ?? 0) + 1);
  }
  // In the order of their keys: the same pairs give the same numbers to the bit, in whatever order they come.
  const clusters = [...byCluster].sort(([a], [b]) => compareCaseIds(a, b)).map(([, cells]) => cells);
  return { total: pairs.length, confusion, clusters };
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}

/**
 * Half the width of a 95 % interval from influence values (what one pair moves the estimate by, times the number of
 * pairs). One pair a case: normal quantile, which for kappa is the large-sample error of Fleiss, Cohen and Everitt 1969.
 * Several: their sums by case, with G / (G - 1) and the t quantile of G - 1 degrees, G = cases. Null when G < 2.
 */
function halfWidth({ total, clusters }: Counted, influence: readonly number[]): number | null {
  const sums = clusters.map((cells) => {
    const inOrder = [...cells].sort(([a], [b]) => a - b);
    return sumOf(inOrder.map(([cell, pairs]) => pairs * (influence[cell] ?? 0)));
  });
  const groups = sums.length;
  if (groups < 2) return null;
  const error = Math.sqrt(sumOf(sums.map((sum) => sum * sum))) / total;
  if (groups === total) return Z_975 * error;
  return t975(groups - 1) * Math.sqrt(groups / (groups - 1)) * error;
}

/** Half a width that is 0 but for rounding. */
const NO_WIDTH = 1e-9;

/** Share on the diagonal: Wilson with one pair a case, and where all cases agree alike with n = cases; else clustered by case. */
function shareOfEqual(counted: Counted): Estimate {
  const { total, confusion } = counted;
  const value = sumOf(confusion.map((row, i) => row[i] ?? 0)) / total;
  const interval = shareInterval(counted, value);
  return { value, low: interval?.low ?? null, high: interval?.high ?? null };
}

function shareInterval(counted: Counted, share: number): Interval | null {
  const cases = counted.clusters.length;
  if (cases === counted.total || share === 0 || share === 1) return wilson(share * cases, cases);
  const influence = counted.confusion.flatMap((row, i) => row.map((_, j) => Number(i === j) - share));
  const half = halfWidth(counted, influence);
  // Cases that all agree to the same share say nothing of how cases differ: as at 0 and 1.
  if (half !== null && half < NO_WIDTH) return wilson(share * cases, cases);
  return half === null ? null : { low: Math.max(0, share - half), high: Math.min(1, share + half) };
}

/**
 * Kappa with agreement weights w (1 = full agreement): (po - pe) / (1 - pe), po = Σ w p, pe = Σ w · row · column (Cohen
 * 1960, 1968). Null when 1 - pe is 0.
 */
function weightedKappa(counted: Counted, weight: (i: number, j: number) => number): Estimate | null {
  const { total, confusion } = counted;
  const rows = confusion.map((row) => sumOf(row) / total);
  const columns = confusion.map((_, j) => sumOf(confusion.map((row) => row[j] ?? 0)) / total);
  // Weights of disagreement are what is exactly 0 on the diagonal, so that full agreement is exactly 1.
  const apart = sumOf(confusion.flatMap((row, i) => row.map((n, j) => (1 - weight(i, j)) * n))) / total;
  const chance = sumOf(rows.flatMap((row, i) => columns.map((column, j) => (1 - weight(i, j)) * row * column)));
  if (chance <= 0) return null;
  const value = 1 - apart / chance;
  const ofRow = rows.map((_, i) => sumOf(columns.map((column, j) => (1 - weight(i, j)) * column)));
  const ofColumn = columns.map((_, j) => sumOf(rows.map((row, i) => (1 - weight(i, j)) * row)));
  const influence = rows.flatMap((_, i) =>
    columns.map((_, j) => {
      const moved = (ofRow[i] ?? 0) + (ofColumn[j] ?? 0) - 2 * chance;
      return -(1 - weight(i, j) - apart) / chance + (apart * moved) / (chance * chance);
    }),
  );
  return { value, ...kappaInterval(counted, influence, { value, chance }) };
}

/**
 * Where the error is 0 (full agreement), an interval of one point would claim to be sure: then the Wilson bound of the
 * share of agreement, n = cases, is carried over to kappa's scale.
 */
function kappaInterval(
  counted: Counted,
  influence: readonly number[],
  { value, chance }: { value: number; chance: number },
): Pick<Estimate, 'low' | 'high'> {
  if (value === 1) {
    const cases = counted.clusters.length;
    const share = wilson(cases, cases);
    return { low: share === null ? null : Math.max(-1, 1 - (1 - share.low) / chance), high: 1 };
  }
  const half = halfWidth(counted, influence);
  // Zero up to rounding: every pair moves it by nothing, so the large-sample error says nothing.
  if (half === null || half < 1e-12) return { low: null, high: null };
  return { low: Math.max(-1, value - half), high: Math.min(1, value + half) };
}

/**
 * Agreement of two raters over a declared scale (docs/statistics.md, "Agreement").
 * @param scale.categories how many categories the scale declares, whether they occur or not
 * @param scale.ordinal true when they have an order: then the quadratic-weighted kappa is defined
 * @throws RangeError for a place that is not on the scale: a fault of the caller
 */
export function agreementOf(pairs: readonly RatedPair[], scale: { categories: number; ordinal: boolean }): Agreement {
  const counted = count(pairs, scale.categories);
  const shared = { pairs: pairs.length, clusters: counted.clusters.length, confusion: counted.confusion };
  if (pairs.length === 0) return { ...shared, agreement: null, kappa: null, weighted_kappa: null };
  const widest = Math.max(1, scale.categories - 1) ** 2;
  return {
    ...shared,
    agreement: shareOfEqual(counted),
    kappa: weightedKappa(counted, (i, j) => Number(i === j)),
    weighted_kappa: scale.ordinal ? weightedKappa(counted, (i, j) => 1 - (i - j) ** 2 / widest) : null,
  };
}
