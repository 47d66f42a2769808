import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { percentile, tInterval, wilson } from '../../../src/statistics/intervals.ts';
import { momentsOf } from '../../../src/statistics/moments.ts';

describe('intervals', () => {
  // statsmodels proportion_confint(k, n, method='wilson'); 81 of 263 and 0 of 10 also in Newcombe 1998.
  test.each([
    [0, 10, 0, 0.27753279986288926],
    [10, 10, 0.7224672001371106, 1],
    [7, 10, 0.39677814746114537, 0.8922087325936989],
    [1, 1, 0.2065493143772374, 1],
    [81, 263, 0.2552885198782742, 0.36620957698280004],
    [149, 150, 0.9632071602251817, 0.9988221986649826],
  ])('Wilson of %d in %d', (k, n, low, high) => {
    const interval = wilson(k, n);
    expect(interval?.low).toBeCloseTo(low, 12);
    expect(interval?.high).toBeCloseTo(high, 12);
  });

  test('Wilson holds the proportion and stays in [0,1]', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5000 }), fc.double({ min: 0, max: 1, noNaN: true }), (n, share) => {
        const k = Math.round(share * n);
        const interval = wilson(k, n);
        expect(interval).not.toBeNull();
        expect(interval!.low).toBeGreaterThanOrEqual(0);
        expect(interval!.high).toBeLessThanOrEqual(1);
        expect(interval!.low).toBeLessThanOrEqual(k / n);
        expect(interval!.high).toBeGreaterThanOrEqual(k / n);
      }),
    );
  });

  test('t interval: scipy.stats.t.interval over case means', () => {
    const { mean, stdev, n } = momentsOf([1, 1 / 3, 2 / 3, 1, 0, 1, 1, 2 / 3]);
    const interval = tInterval(mean!, stdev, n);
    expect(interval?.low).toBeCloseTo(0.3945491475666349, 10);
    expect(interval?.high).toBeCloseTo(1.0221175191000316, 10);
    expect(tInterval(1, null, 1)).toBeNull();
  });

  test('percentiles are R type 7 (numpy.percentile, its default)', () => {
    const sorted = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3].sort((a, b) => a - b);
    expect([0.5, 0.9, 0.99, 0, 1].map((q) => percentile(sorted, q))).toEqual([
      3.5,
      expect.closeTo(6.3, 12),
      expect.closeTo(8.73, 12),
      1,
      9,
    ]);
    expect(percentile([], 0.5)).toBeNull();
    expect(percentile([7], 0.99)).toBe(7);
  });

  test('equal values have exactly their own mean and no spread', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1, noNaN: true }), fc.integer({ min: 2, max: 200 }), (value, n) => {
        const moments = momentsOf(Array.from({ length: n }, () => value));
        expect(moments.mean).toBe(value);
        expect(moments.stdev).toBe(0);
      }),
    );
  });
});
