import { describe, expect, test } from 'vitest';
import type { EvaluationResult, JudgeVariance, TrialRecord } from '../../../src/core/evaluation.ts';
import { createAggregator } from '../../../src/statistics/aggregate.ts';
import { reduceCase } from '../../../src/statistics/reduce.ts';
import { facts, score, trial } from '../../fixtures/trials.ts';

type Rounds = (number | null)[];

/** Trials of a case, each with the values of its judgings. */
function judged(caseId: string, trials: Rounds[], scorer = 'rag_recall'): TrialRecord[] {
  return trials.map((rounds, i) => {
    const value = rounds.find((one) => one !== null) ?? null;
    return trial(caseId, i + 1, { scores: [score(scorer, value, { rounds })] });
  });
}

function aggregated(cases: Record<string, TrialRecord[]>): EvaluationResult {
  const aggregator = createAggregator();
  for (const [id, trials] of Object.entries(cases)) aggregator.add(reduceCase(facts(id, trials.length), trials));
  return aggregator.finish();
}

const varianceOf = (cases: Record<string, Rounds[]>): JudgeVariance | undefined =>
  aggregated(Object.fromEntries(Object.entries(cases).map(([id, trials]) => [id, judged(id, trials)])))
    .judge_variance?.[0];

describe('judge variance apart from the agent’s', () => {
  test('by hand: only the judge varies', () => {
    // Means .5 and 1, of the case .75. Judge: (.25 + .25) ÷ 2. Between: 2·.0625 + 2·.0625 = .25; (.25 − .25) ÷ 2 = 0.
    expect(
      varianceOf({
        a: [
          [1, 0],
          [1, 1],
        ],
      }),
    ).toEqual({
      dimension: 'rag_recall',
      cases: 1,
      trials: 2,
      verdicts: 4,
      differing_trials: 1,
      judge_variance: 0.25,
      agent_variance: 0,
      judge_share: 1,
    });
  });

  test('by hand: only the agent varies', () => {
    // Between: 2·.25 + 2·.25 = 1; (1 − 0) ÷ 2: the sample variance of 1 and 0.
    const found = varianceOf({
      a: [
        [1, 1],
        [0, 0],
      ],
    });
    expect(found).toMatchObject({ judge_variance: 0, agent_variance: 0.5, judge_share: 0, differing_trials: 0 });
  });

  test('by hand: two cases, judgings without a verdict, a trial without any', () => {
    // a: means .5 (of 2) and 1 (of 3), case .8: within .125, between 2·.09 + 3·.04 = .3, weight 5 − 13/5 = 2.4
    // b: means .5 and .5 (of 3 each): within .125, between 0, weight 6 − 18/6 = 3; its third trial has no verdict
    // judge = .25 ÷ (11 − 4); agent = (.3 ÷ 2 − judge) ÷ (5.4 ÷ 2)
    const found = varianceOf({
      a: [
        [0.75, 0.25, null],
        [1, 1, 1],
      ],
      b: [
        [0.5, 0.5, 0.5],
        [0.25, 0.75, 0.5],
        [null, null, null],
      ],
    });
    expect(found).toMatchObject({ cases: 2, trials: 4, verdicts: 11, differing_trials: 2 });
    expect(found?.judge_variance).toBeCloseTo(0.03571428571428571, 15);
    expect(found?.agent_variance).toBeCloseTo(0.042328042328042326, 14);
    expect(found?.judge_share).toBeCloseTo(0.45762711864406785, 13);
  });

  test('the difference between cases is neither the judge’s nor the agent’s', () => {
    const found = varianceOf({
      a: [
        [0, 0],
        [0, 0],
      ],
      b: [
        [1, 1],
        [1, 1],
      ],
    });
    expect(found).toMatchObject({ judge_variance: 0, agent_variance: 0, judge_share: null });
  });

  test('equal verdicts whose mean is rounded vary by nothing: there is no share', () => {
    const found = varianceOf({
      a: [
        [0.1, 0.1, 0.1],
        [0.1, 0.1, 0.1],
      ],
      b: [
        [0.7, 0.7, 0.7],
        [0.7, 0.7, 0.7],
      ],
    });
    expect(found).toMatchObject({ judge_variance: 0, agent_variance: 0, judge_share: null });
  });

  test('one trial a case: the agent’s part is not known; one verdict a trial: neither is', () => {
    expect(varianceOf({ a: [[1, 0.5]] })).toMatchObject({
      judge_variance: 0.125,
      agent_variance: null,
      judge_share: null,
    });
    const once = varianceOf({
      a: [
        [1, null],
        [0, null],
      ],
    });
    expect(once).toMatchObject({ judge_variance: null, agent_variance: null, judge_share: null });
  });

  test('order of trials: the same to the bit; not judged again: absent', () => {
    const trials = judged('a', [
      [0.1, 0.7, 0.3],
      [0.9, 0.2, 0.4],
      [0.6, 0.6, 0.1],
    ]);
    expect(reduceCase(facts('a', 3), [...trials].reverse())).toEqual(reduceCase(facts('a', 3), trials));
    const plain = aggregated({ a: [trial('a', 1, { scores: [score('rag_recall', 1)] })] });
    expect(plain).not.toHaveProperty('judge_variance');
  });

  test('finds the parts it was made of: 400 cases of 4 trials judged 5 times (seeded)', () => {
    let state = 42;
    const uniform = (): number => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return state / 2 ** 32;
    };
    // Uniform on ±w has variance w² ÷ 3: agent .03, judge .0075.
    const noise = (width: number): number => (uniform() * 2 - 1) * width;
    const cases = Array.from({ length: 400 }, (_, i): [string, Rounds[]] => {
      const level = uniform();
      const trials = Array.from({ length: 4 }, () => {
        const own = level + noise(0.3);
        return Array.from({ length: 5 }, () => own + noise(0.15));
      });
      return [`c${String(i).padStart(3, '0')}`, trials];
    });
    const found = varianceOf(Object.fromEntries(cases));
    expect(found?.judge_variance).toBeCloseTo(0.0075, 3);
    expect(found?.agent_variance).toBeGreaterThan(0.027);
    expect(found?.agent_variance).toBeLessThan(0.033);
  });
});
