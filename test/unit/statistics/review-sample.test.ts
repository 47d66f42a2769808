import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type JudgedTrial, reviewSample } from '../../../src/statistics/review-sample.ts';

const OPTIONS = { share: 0.05, seed: 1, salt: 'ev-1' };

function verdicts(counts: Record<string, number>, dimension = 'rag_recall'): JudgedTrial[] {
  return Object.entries(counts).flatMap(([verdict, n]) =>
    Array.from({ length: n }, (_, i) => ({ case_id: `${verdict}-${i}`, trial_index: 1, dimension, verdict })),
  );
}

const count = (sample: JudgedTrial[], verdict: string): number =>
  sample.filter((one) => one.verdict === verdict).length;

describe('reviewSample', () => {
  test('the share of each verdict, rounded up: a rare one is there, and 5 % of 60 is 3', () => {
    const sample = reviewSample(verdicts({ '5': 60, '4': 101, '1': 1 }), OPTIONS);
    expect([count(sample, '5'), count(sample, '4'), count(sample, '1')]).toEqual([3, 6, 1]);
  });

  test('dimensions are apart, in their order', () => {
    const all = [...verdicts({ pass: 20 }, 'trajectory'), ...verdicts({ pass: 20 }, 'answer_quality')];
    expect(reviewSample(all, OPTIONS).map(({ dimension }) => dimension)).toEqual(['answer_quality', 'trajectory']);
  });

  test('the order in which verdicts come changes nothing; seed and evaluation do', () => {
    const all = verdicts({ pass: 200, fail: 40 });
    const drawn = reviewSample(all, OPTIONS);
    fc.assert(
      fc.property(fc.shuffledSubarray(all, { minLength: all.length }), (shuffled) => {
        expect(reviewSample(shuffled, OPTIONS)).toEqual(drawn);
      }),
      { numRuns: 20 },
    );
    expect(reviewSample(all, { ...OPTIONS, seed: 2 })).not.toEqual(drawn);
    expect(reviewSample(all, { ...OPTIONS, salt: 'ev-2' })).not.toEqual(drawn);
  });

  test('verdicts are mixed within a dimension, not one after the other', () => {
    const words = reviewSample(verdicts({ pass: 50, fail: 50 }), { ...OPTIONS, share: 0.5 }).map((one) => one.verdict);
    const changes = words.filter((word, i) => i > 0 && word !== words[i - 1]).length;
    expect(changes).toBeGreaterThan(10);
  });

  test('every verdict is drawn about equally often', () => {
    const all = verdicts({ pass: 20 });
    const drawn = new Map<string, number>();
    for (let seed = 0; seed < 2_000; seed += 1) {
      for (const { case_id } of reviewSample(all, { ...OPTIONS, share: 0.25, seed })) {
        drawn.set(case_id, (drawn.get(case_id) ?? 0) + 1);
      }
    }
    // 500 each; the standard deviation is sqrt(2000 · 0.25 · 0.75) = 19.4.
    for (const times of drawn.values()) expect(Math.abs(times - 500)).toBeLessThan(97);
    expect(drawn.size).toBe(20);
  });
});
