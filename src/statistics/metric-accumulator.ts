import type { Metric, MetricOfCase } from '../core/evaluation.ts';
import type { Interval } from './intervals.ts';
import { tInterval, wilson } from './intervals.ts';
import { createMoments } from './moments.ts';

export interface MetricAccumulator {
  add(ofCase: MetricOfCase): void;
  finish(): Metric;
}

/**
 * Collects one metric over cases: the mean of case means with its 95 % interval.
 * Wilson on cases where every value is 0 or 1 with one value a case, and at a mean of exactly 0 or 1; otherwise the
 * t interval over case means (standard error clustered by case), cut to [0, 1] for metrics in [0, 1]. The others are counts,
 * times and money: their interval is cut at 0.
 */
export function createMetricAccumulator(metric: string, unit: boolean): MetricAccumulator {
  const moments = createMoments();
  let casesApplicable = 0;
  let trials = 0;
  let trialsApplicable = 0;
  let singleBinary = true;

  function intervalOf(mean: number, stdev: number | null, n: number): Interval | null {
    if (unit && (singleBinary || mean === 0 || mean === 1)) return wilson(mean * n, n);
    const interval = tInterval(mean, stdev, n);
    return interval && { low: Math.max(0, interval.low), high: Math.min(unit ? 1 : Infinity, interval.high) };
  }

  return {
    add(ofCase) {
      trialsApplicable += ofCase.applicable;
      if (ofCase.applicable > 0) casesApplicable += 1;
      if (ofCase.mean === null) return;
      trials += ofCase.scored;
      moments.add(ofCase.mean);
      if (ofCase.scored !== 1 || (ofCase.mean !== 0 && ofCase.mean !== 1)) singleBinary = false;
    },
    finish() {
      const { n, mean, stdev } = moments.moments();
      const interval = mean === null ? null : intervalOf(mean, stdev, n);
      return {
        metric,
        value: mean,
        low: interval?.low ?? null,
        high: interval?.high ?? null,
        cases: n,
        cases_applicable: casesApplicable,
        trials,
        trials_applicable: trialsApplicable,
      };
    },
  };
}
