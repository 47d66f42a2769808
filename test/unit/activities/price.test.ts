import { expect, test } from 'vitest';
import { costOf } from '../../../src/core/price.ts';

const usage = { input: 1_000_000, cached: 400_000, output: 500_000, reasoning: 0, total: 1_500_000 };

test('input without the cached part, cached and output, each at its own price per million', () => {
  expect(costOf(usage, 'm', { m: { input: 2, cached_input: 0.5, output: 8 } })).toBeCloseTo(
    0.6 * 2 + 0.4 * 0.5 + 0.5 * 8,
    12,
  );
});

test('without a cached price the input price holds; unknown cached tokens are none', () => {
  expect(costOf(usage, 'm', { m: { input: 2, output: 8 } })).toBeCloseTo(2 + 4, 12);
  expect(costOf({ ...usage, cached: null }, 'm', { m: { input: 2, cached_input: 0, output: 8 } })).toBeCloseTo(
    2 + 4,
    12,
  );
});

test('a price of zero is a price; no price or no usage is unknown, never 0', () => {
  expect(costOf(usage, 'm', { m: { input: 0, output: 0 } })).toBe(0);
  expect(costOf(usage, 'other', { m: { input: 1, output: 1 } })).toBeNull();
  expect(costOf(usage, null, {})).toBeNull();
  expect(costOf({ ...usage, input: null }, 'm', { m: { input: 1, output: 1 } })).toBeNull();
  expect(costOf({ ...usage, output: null }, 'm', { m: { input: 1, output: 1 } })).toBeNull();
});

test('more cached tokens than input tokens is no usage that can be priced', () => {
  const usage = { input: 10, cached: 1_000_000_000, output: 0, reasoning: 0, total: 10 };
  expect(costOf(usage, 'm', { m: { input: 1_000, cached_input: 1, output: 1_000 } })).toBeNull();
});
