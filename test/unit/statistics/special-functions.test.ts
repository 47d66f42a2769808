import { describe, expect, test } from 'vitest';
import { incompleteBeta, logGamma, tQuantile } from '../../../src/statistics/special-functions.ts';

describe('special functions against scipy 1.17.1', () => {
  test.each([
    [0.975, 1, 12.706204736174694],
    [0.975, 2, 4.302652729749462],
    [0.975, 4, 2.7764451051977934],
    [0.975, 9, 2.262157162798205],
    [0.975, 29, 2.045229642132703],
    [0.975, 199, 1.9719565442517533],
    [0.975, 99_999, 1.9599877077718442],
    [0.9, 3, 1.637744353696209],
    [0.05, 7, -1.8945786050900066],
    [0.999, 5, 5.893429531356009],
  ])('stats.t.ppf(%d, %d)', (p, df, wanted) => {
    expect(Math.abs(tQuantile(p, df) - wanted) / Math.abs(wanted)).toBeLessThan(1e-9);
  });

  test('stats.beta.cdf(.3, 2.5, 4.5) and gammaln', () => {
    expect(incompleteBeta(0.3, 2.5, 4.5)).toBeCloseTo(0.40653901668245934, 12);
    expect(incompleteBeta(0, 2, 3)).toBe(0);
    expect(incompleteBeta(1, 2, 3)).toBe(1);
    expect(logGamma(0.5)).toBeCloseTo(0.5723649429247, 12);
    expect(logGamma(5)).toBeCloseTo(3.1780538303479458, 12);
    expect(logGamma(100.5)).toBeCloseTo(361.43554046777757, 10);
    expect(logGamma(3000)).toBeCloseTo(21016.018485477893, 8);
  });

  test('refuses what has no quantile', () => {
    expect(() => tQuantile(1, 5)).toThrow(RangeError);
    expect(() => tQuantile(0.5, 0)).toThrow(RangeError);
  });
});
