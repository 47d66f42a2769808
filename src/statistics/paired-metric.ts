import type { MetricDelta } from '../core/evaluation.ts';
import { t975, tInterval, Z_975 } from './intervals.ts';
import type { Interval } from './intervals.ts';
import { momentsOf } from './moments.ts';
import { mcnemarExact, pairedPermutation } from './paired-tests.ts';
import { seedOf } from './random.ts';

/** 2.80 = z(.975) + z(.80): the shift found with power .8 at two-sided alpha .05, in standard errors. */
const DETECTABLE = 2.8;

/** Equal changes differ in their last bits (0.8 − 0.5, 0.9 − 0.6): of values of this size, a smaller spread is none. */
const NOISE = 1e-12;

function withoutNoise(stdev: number | null, size: number): number | null {
  return stdev !== null && stdev < NOISE * size ? 0 : stdev;
}

/** A delta before the verdict and Holm's correction over the metrics. */
export type PairedDelta = Omit<MetricDelta, 'verdict' | 'p_adjusted'>;

export interface PairedMetric {
  /** @param single true when both are one value of 0 or 1, not a mean over trials */
  add(baseline: number, current: number, single: boolean): void;
  finish(): PairedDelta;
}

/**
 * 95 % interval of a difference of paired proportions, half a pair added to each cell (Agresti and Min 2005): unlike
 * the plain one it does not shrink to a point when no pair differs.
 */
function pairedProportions(b: number, c: number, n: number): Interval {
  const size = n + 2;
  const lost = (b + 0.5) / size;
  const won = (c + 0.5) / size;
  const half = Z_975 * Math.sqrt((lost + won - (won - lost) ** 2) / size);
  return { low: Math.max(-1, won - lost - half), high: Math.min(1, won - lost + half) };
}

/** t interval of a mean difference of values in [0,1], which lies in [-1,1]. */
function unitT(mean: number, stdev: number | null, n: number): Interval | null {
  const interval = tInterval(mean, stdev, n);
  return interval && { low: Math.max(-1, interval.low), high: Math.min(1, interval.high) };
}

/** 95 % interval of a ratio of paired means, by the delta method on its logarithm. */
function ratioInterval(baselines: readonly number[], currents: readonly number[], ratio: number): Interval | null {
  const n = baselines.length;
  if (n < 2 || ratio <= 0) return null;
  const residuals = currents.map((current, i) => current - ratio * (baselines[i] ?? 0));
  const mean = momentsOf(currents).mean ?? 0;
  const stdev = withoutNoise(momentsOf(residuals).stdev, mean);
  if (stdev === 0) return null;
  const half = (t975(n - 1) * (stdev ?? 0)) / Math.sqrt(n) / mean;
  return { low: ratio * Math.exp(-half), high: ratio * Math.exp(half) };
}

/**
 * One metric over the cases both evaluations have, with equal content.
 * @param kind `difference` for values in [0,1], `ratio` for others
 */
export function createPairedMetric(metric: string, kind: MetricDelta['kind'], seed: number): PairedMetric {
  const baselines: number[] = [];
  const currents: number[] = [];
  let binary = true;

  function difference(
    deltas: readonly number[],
  ): Pick<PairedDelta, 'delta' | 'low' | 'high' | 'p' | 'smallest_detectable'> {
    const { mean, stdev: spread, n } = momentsOf(deltas);
    const stdev = withoutNoise(spread, 1);
    if (mean === null) return { delta: null, low: null, high: null, p: null, smallest_detectable: null };
    const lost = deltas.filter((delta) => delta < 0).length;
    const won = deltas.filter((delta) => delta > 0).length;
    // Without any spread a t interval is a point, which would claim to be sure.
    const interval = binary ? pairedProportions(lost, won, n) : stdev === 0 ? null : unitT(mean, stdev, n);
    const p = binary ? mcnemarExact(lost, won) : pairedPermutation(deltas, (seed ^ seedOf(metric)) >>> 0);
    // No spread says nothing about what could have been found.
    const detectable = stdev === null || stdev === 0 ? null : (DETECTABLE * stdev) / Math.sqrt(n);
    return {
      delta: mean,
      low: interval?.low ?? null,
      high: interval?.high ?? null,
      p,
      smallest_detectable: detectable,
    };
  }

  return {
    add(baseline, current, single) {
      baselines.push(baseline);
      currents.push(current);
      if (!single) binary = false;
    },
    finish() {
      const deltas = currents.map((current, i) => current - (baselines[i] ?? 0));
      const before = momentsOf(baselines).mean;
      const value = momentsOf(currents).mean;
      const shared = { metric, baseline: before, value, kind, pairs: deltas.length };
      if (kind === 'difference') return { ...shared, ...difference(deltas) };
      if (before === null || value === null || before <= 0) {
        return { ...shared, delta: null, low: null, high: null, p: null, smallest_detectable: null };
      }
      const ratio = value / before;
      const interval = ratioInterval(baselines, currents, ratio);
      const p = pairedPermutation(deltas, (seed ^ seedOf(metric)) >>> 0);
      const stdev = withoutNoise(momentsOf(deltas).stdev, before);
      const detectable =
        stdev === null || stdev === 0 ? null : (DETECTABLE * stdev) / Math.sqrt(deltas.length) / before;
      return {
        ...shared,
        delta: ratio,
        low: interval?.low ?? null,
        high: interval?.high ?? null,
        p,
        smallest_detectable: detectable,
      };
    },
  };
}
