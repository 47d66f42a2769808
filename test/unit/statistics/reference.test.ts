import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { createAggregator } from '../../../src/statistics/aggregate.ts';
import { percentile, t975, wilson } from '../../../src/statistics/intervals.ts';
import { createMetricAccumulator } from '../../../src/statistics/metric-accumulator.ts';
import { momentsOf } from '../../../src/statistics/moments.ts';
import { createPairedMetric } from '../../../src/statistics/paired-metric.ts';
import { holm, mcnemarExact, pairedPermutation } from '../../../src/statistics/paired-tests.ts';
import { passAtK, passHatK } from '../../../src/statistics/pass-at-k.ts';
import { reduceCase } from '../../../src/statistics/reduce.ts';
import { completed, facts } from '../../fixtures/trials.ts';

/** Made by test/fixtures/reference/statistics.py with scipy 1.17.1, statsmodels 0.15.0, numpy 2.4.6. */
const reference = JSON.parse(
  readFileSync(new URL('../../fixtures/reference/statistics.json', import.meta.url), 'utf8'),
) as {
  wilson: [number, number, number, number][];
  t: [number, number][];
  case_means: { trials: number[][]; mean: number; sd: number; low: number; high: number }[];
  pass_at_k: [number, number, number, number, number][];
  mcnemar: [number, number, number][];
  permutation: { deltas: number[]; p: number }[];
  holm: { p: number[]; adjusted: number[] }[];
  percentiles: { values: number[]; q: [number, number, number] }[];
  differences: { before: number[]; after: number[]; delta: number; low: number; high: number; detectable: number }[];
  stability: { table: (0 | 1)[][]; mean: number; stdev: number; expected: number; within: number }[];
};

function near(got: number | null | undefined, wanted: number): void {
  expect(got).toEqual(expect.any(Number));
  expect(Math.abs((got ?? Number.NaN) - wanted)).toBeLessThan(1e-9);
}

describe('statistics against scipy and statsmodels, to 1e-9', () => {
  test.each(reference.wilson)('Wilson of %d in %d: proportion_confint', (k, n, low, high) => {
    near(wilson(k, n)?.low, low);
    near(wilson(k, n)?.high, high);
  });

  test.each(reference.t)('t quantile, %d degrees: stats.t.ppf', (df, quantile) => {
    near(t975(df), quantile);
  });

  test.each(reference.case_means.map((one) => [one.trials.length, one] as const))(
    '%d cases: mean of case means, its spread and interval as OLS has them; equal trials a case: cluster-robust',
    (_cases, { trials, mean, sd, low, high }) => {
      // A metric that is cut at 0 only, so that the whole interval is seen.
      const metric = createMetricAccumulator('mean_tokens', false);
      const means = trials.map((values) => momentsOf(values).mean ?? Number.NaN);
      trials.forEach((values, i) => {
        const { n, stdev, min, max } = momentsOf(values);
        metric.add({ mean: means[i] ?? null, stdev, min, max, scored: n, applicable: n });
      });
      const got = metric.finish();
      near(got.value, mean);
      near(momentsOf(means).stdev, sd);
      near(got.low, Math.max(0, low));
      near(got.high, high);
    },
  );

  test('pass@k and pass^k: exact fractions', () => {
    for (const [n, c, k, at, hat] of reference.pass_at_k) {
      near(passAtK(n, c, k), at);
      near(passHatK(n, c, k), hat);
    }
    expect(reference.pass_at_k.length).toBeGreaterThan(50);
  });

  test.each(reference.mcnemar)('McNemar of %d against %d: mcnemar(exact=True)', (b, c, p) => {
    near(mcnemarExact(b, c), p);
  });

  test.each(reference.permutation.map(({ deltas, p }) => [deltas.length, deltas, p] as const))(
    'paired permutation of %d differences: permutation_test over every sign pattern',
    (_n, deltas, p) => {
      near(pairedPermutation(deltas, 1), p);
    },
  );

  test.each(reference.holm.map((one) => [one.p.length, one] as const))('Holm over %d: multipletests', (_n, one) => {
    holm(one.p).forEach((p, i) => near(p, one.adjusted[i] ?? Number.NaN));
  });

  test.each(reference.percentiles.map((one) => [one.values.length, one] as const))(
    'percentiles of %d: numpy.quantile(method="linear"), R type 7',
    (_n, { values, q }) => {
      const sorted = [...values].sort((a, b) => a - b);
      [0.5, 0.9, 0.99].forEach((share, i) => near(percentile(sorted, share), q[i] ?? Number.NaN));
    },
  );

  test.each(reference.differences.map((one) => [one.before.length, one] as const))(
    'paired difference over %d cases: ttest_rel, 2.80 standard errors',
    (_n, { before, after, delta, low, high, detectable }) => {
      const metric = createPairedMetric('tool_score', 'difference', 1);
      before.forEach((value, i) => metric.add(value, after[i] ?? Number.NaN, false));
      const got = metric.finish();
      near(got.delta, delta);
      near(got.low, Math.max(-1, low));
      near(got.high, Math.min(1, high));
      near(got.smallest_detectable, detectable);
    },
  );

  test.each(reference.stability.map((one) => [one.table.length, one] as const))(
    'stability of %d cases: numpy, ddof=1',
    (_n, { table, mean, stdev, expected, within }) => {
      const aggregator = createAggregator();
      table.forEach((row, i) => {
        const id = `c${String(i).padStart(3, '0')}`;
        aggregator.add(
          reduceCase(
            facts(id, row.length),
            row.map((value, trial) => completed(id, trial + 1, value)),
          ),
        );
      });
      const { stability } = aggregator.finish();
      near(stability?.mean, mean);
      near(stability?.stdev, stdev);
      near(stability?.expected_stdev, expected);
      near(stability?.mean_within_case_stdev, within);
    },
  );
});
