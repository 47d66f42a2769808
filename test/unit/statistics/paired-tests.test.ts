import { describe, expect, test } from 'vitest';
import { createPairedMetric } from '../../../src/statistics/paired-metric.ts';
import { holm, mcnemarExact, pairedPermutation } from '../../../src/statistics/paired-tests.ts';

describe('paired tests', () => {
  // min(1, scipy.stats.binomtest(min(b, c), b + c).pvalue), scipy 1.17.1
  test.each([
    [0, 0, 1],
    [1, 0, 1],
    [5, 0, 0.0625],
    [6, 0, 0.03125],
    [2, 9, 0.0654296875],
    [10, 25, 0.016673847800120715],
    [8, 8, 1],
  ])('exact McNemar of %d against %d', (b, c, p) => {
    expect(mcnemarExact(b, c)).toBeCloseTo(p, 12);
    expect(mcnemarExact(c, b)).toBe(mcnemarExact(b, c));
  });

  test('exact McNemar far out in the tail', () => {
    expect(mcnemarExact(59, 6) / 4.964650327128616e-12).toBeCloseTo(1, 9);
    // binomtest(520, 1100), binomtest(400, 900)
    expect(mcnemarExact(520, 580)).toBeCloseTo(0.0752055336026395, 9);
    expect(mcnemarExact(400, 500)).toBeCloseTo(0.0009564441369189373, 9);
  });

  const small = [-0.5, -0.25, 0, -0.75, 0.25, -0.5, -1 / 3, 0, -0.2, 0.1];

  test('permutation is exact for few pairs: scipy permutation_test(samples), all resamples', () => {
    expect(pairedPermutation(small, 1)).toBeCloseTo(0.0703125, 12);
    expect(pairedPermutation([0, 0, 0], 1)).toBe(1);
  });

  test('permutation draws for many pairs: near scipy, the same for the same seed', () => {
    const deltas = [
      -0.05, 0.01, -0.105, -0.228, -0.141, -0.248, -0.038, 0.218, -0.148, -0.174, 0.048, 0.021, -0.029, -0.236, -0.056,
      0.289, -0.319, -0.142, 0.43, -0.308, 0.418, -0.097, -0.303, 0.004, 0.119, -0.087, 0.253, -0.158, -0.06, -0.027,
    ];
    const p = pairedPermutation(deltas, 11);
    expect(p).toBe(pairedPermutation(deltas, 11));
    // scipy permutation_test with 200,000 resamples gives 0.3018; 10,000 draws are within 0.02 of it.
    expect(Math.abs(p - 0.3018)).toBeLessThan(0.02);
    expect(p).not.toBe(pairedPermutation(deltas, 12));
  });

  test('permutation of equal differences is the exact binomial test, within the error of its draws', () => {
    for (const [n, lost] of [
      [15, 3],
      [64, 24],
      [1_001, 470],
      [9_999, 4_900],
    ] as const) {
      const deltas = Array.from({ length: n }, (_, i) => (i < lost ? -0.3 : 0.3));
      const exact = mcnemarExact(lost, n - lost);
      // 5 standard errors of 10,000 draws
      const error = 5 * Math.sqrt((exact * (1 - exact)) / 10_000) + 1e-4;
      expect(Math.abs(pairedPermutation(deltas, 3) - exact)).toBeLessThan(error);
    }
  });

  test('permutation of 100,000 pairs: fewer draws, the same question', () => {
    const even = Array.from({ length: 100_000 }, (_, i) => (i % 3 === 0 ? -1 : 0.5));
    expect(pairedPermutation(even, 1)).toBeGreaterThan(0.5);
    const shifted = Array.from({ length: 100_000 }, (_, i) => (i % 100 < 49 ? -1 : 1));
    expect(pairedPermutation(shifted, 1)).toBe(1 / 1_001);
  });

  test('Holm: statsmodels multipletests(method="holm")', () => {
    expect(holm([0.01, 0.04, 0.03, 0.005, 0.5])).toEqual(
      [0.04, 0.09, 0.09, 0.025, 0.5].map((p) => expect.closeTo(p, 12)),
    );
    expect(holm([])).toEqual([]);
  });

  test('difference: interval of scipy.stats.t.interval, detectable = 2.80 standard errors', () => {
    const metric = createPairedMetric('tool_score', 'difference', 1);
    for (const delta of small) metric.add(0.75, 0.75 + delta, false);
    const result = metric.finish();
    expect(result.low).toBeCloseTo(-0.4409916949351702, 9);
    expect(result.high).toBeCloseTo(0.0043250282685035335, 9);
    expect(result.smallest_detectable).toBeCloseTo(0.2755968607035095, 9);
    expect(result.pairs).toBe(10);
  });

  test('binary metric with one trial a case: McNemar, and an interval that does not collapse without discordant pairs', () => {
    const metric = createPairedMetric('completion_rate', 'difference', 1);
    for (let i = 0; i < 20; i += 1) metric.add(1, 1, true);
    const result = metric.finish();
    expect(result).toMatchObject({ delta: 0, p: 1, smallest_detectable: null });
    expect(result.low).toBeLessThan(-0.05);
    expect(result.high).toBeGreaterThan(0.05);
  });

  test('changes that differ by rounding alone have no spread, so no interval and nothing detectable', () => {
    const metric = createPairedMetric('tool_score', 'difference', 1);
    for (const before of [0.5, 0.6, 0.4, 0.1]) metric.add(before, before + 0.3, false);
    expect(metric.finish()).toMatchObject({ low: null, high: null, smallest_detectable: null });
    const ratio = createPairedMetric('cost_usd', 'ratio', 1);
    for (const before of [0.1, 0.3, 0.7, 1.9]) ratio.add(before, before * 1.3, false);
    expect(ratio.finish()).toMatchObject({ low: null, high: null });
  });

  test('ratio: of the means, with an interval by the delta method; none without spread', () => {
    const doubled = createPairedMetric('mean_tokens', 'ratio', 1);
    for (const tokens of [100, 200, 400]) doubled.add(tokens, 2 * tokens, false);
    expect(doubled.finish()).toMatchObject({ delta: 2, low: null, high: null });
    const metric = createPairedMetric('mean_tokens', 'ratio', 1);
    [
      [100, 130],
      [200, 210],
      [300, 330],
    ].forEach(([before, after]) => metric.add(before!, after!, false));
    // by hand: r = 670/600; residuals y - r·x = 18.333, -13.333, -5; sd = 16.415; half = 4.30265 · sd / sqrt(3) / 223.333
    const { delta, low, high } = metric.finish();
    expect(delta).toBeCloseTo(670 / 600, 12);
    expect(low).toBeCloseTo((670 / 600) * Math.exp(-0.18258), 3);
    expect(high).toBeCloseTo((670 / 600) * Math.exp(0.18258), 3);
  });
});
