import { expect, test } from 'vitest';
import type { PairVerdict, Preference } from '../../../src/core/pairwise.ts';
import { summarisePairs } from '../../../src/statistics/pairwise.ts';

const pair = (
  case_id: string,
  trial_index: number,
  winner: Preference | null,
  orders?: [Preference, Preference],
): PairVerdict => ({
  case_id,
  trial_index,
  winner,
  orders: [{ model: 'm', a_first: orders?.[0] ?? winner, b_first: orders?.[1] ?? winner }],
  reason: '',
});

test('by hand: shares of cases, t interval over cases, sign test, position bias', () => {
  const pairs = [
    pair('one', 1, 'b'),
    pair('one', 2, 'tie', ['a', 'b']),
    pair('two', 1, 'a'),
    pair('three', 1, 'b'),
    pair('four', 1, null),
  ];
  const result = summarisePairs(pairs);
  // Case means .75, 0, 1: mean 7/12, sd .520416..; t(.975, 2) = 4.302652729911275. Two cases lean to b, one to a: p = 1.
  expect(result).toMatchObject({ pairs: 5, judged: 4, unscored: 1, wins_a: 1, wins_b: 2, ties: 1, cases: 3, p: 1 });
  expect(result).toMatchObject({ order_changed: 1, order_judged: 4, low: 0, high: 1 });
  expect(result.preference).toBeCloseTo(7 / 12, 15);
});

test('the interval: 8 cases of .75 and .25', () => {
  const pairs = Array.from({ length: 8 }, (_, i) => [
    pair(`c${i}`, 1, i % 2 === 0 ? 'b' : 'a'),
    pair(`c${i}`, 2, 'tie'),
  ]).flat();
  const result = summarisePairs(pairs);
  // sd of .75 ×4, .25 ×4 = .2672612419124244 (n − 1); t(.975, 7) = 2.3646242515927844
  const half = (2.3646242515927844 * 0.2672612419124244) / Math.sqrt(8);
  expect(result.low).toBeCloseTo(0.5 - half, 10);
  expect(result.high).toBeCloseTo(0.5 + half, 10);
  expect(result.p).toBe(1);
});

test('b wins everywhere: Wilson, and the sign test 2 · .5^6', () => {
  const result = summarisePairs(Array.from({ length: 6 }, (_, i) => pair(`c${i}`, 1, 'b')));
  expect(result).toMatchObject({ preference: 1, high: 1, p: 0.03125 });
  expect(result.low).toBeCloseTo(0.6096657, 6);
});

test('nothing judged: no preference; the order of the pairs does not matter', () => {
  expect(summarisePairs([pair('one', 1, null)])).toMatchObject({
    preference: null,
    low: null,
    high: null,
    p: 1,
    judged: 0,
  });
  const pairs = [pair('b', 1, 'a'), pair('a', 2, 'tie'), pair('a', 1, 'b')];
  expect(summarisePairs([...pairs].reverse())).toEqual(summarisePairs(pairs));
});
