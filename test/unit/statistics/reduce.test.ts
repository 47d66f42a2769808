import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { TrialRecord } from '../../../src/core/evaluation.ts';
import { reduceCase } from '../../../src/statistics/reduce.ts';
import { completed, errored, facts, score, trial } from '../../fixtures/trials.ts';

describe('reduceCase', () => {
  test('outcome: passed when all scored trials pass, flaky when some fail, unscored when none is scored', () => {
    const outcome = (trials: TrialRecord[]) => reduceCase(facts('a', 3), trials).outcome;
    expect(outcome([completed('a', 1, 1), errored('a', 2)])).toBe('passed');
    expect(outcome([completed('a', 1, 1), completed('a', 2, 0)])).toBe('flaky');
    expect(outcome([completed('a', 1, 0), completed('a', 2, 0.5)])).toBe('failed');
    expect(outcome([errored('a', 1), trial('a', 2, { status: 'unscored' })])).toBe('unscored');
    expect(outcome([])).toBe('unscored');
  });

  test('counts every planned trial once', () => {
    const result = reduceCase(facts('a', 6), [
      completed('a', 1, 1),
      completed('a', 2, 0),
      trial('a', 3, { status: 'unscored' }),
      errored('a', 4),
      trial('a', 5, { status: 'canceled' }),
    ]);
    expect(result).toMatchObject({
      passed_trials: 1,
      failed_trials: 1,
      unscored_trials: 1,
      errored_trials: 1,
      canceled_trials: 1,
      missing_trials: 1,
    });
    const running = trial('a', 1, { status: null });
    expect(reduceCase(facts('a', 2), [running]).missing_trials).toBe(2);
  });

  test('null is never 0: an unscored value is left out of the mean and counted', () => {
    const judged = (index: number, value: number | null) =>
      trial('a', index, { scores: [score('answer_quality', value), score('task_completion', 1)] });
    const { metrics } = reduceCase(facts('a', 3), [judged(1, 0.8), judged(2, null), judged(3, 0.6)]);
    expect(metrics['answer_quality']).toMatchObject({ mean: 0.7, scored: 2, applicable: 3, min: 0.6, max: 0.8 });
    expect(metrics['answer_quality']?.stdev).toBeCloseTo(Math.SQRT2 / 10, 12);
  });

  test('completion counts success only; partial stands beside it', () => {
    const { metrics } = reduceCase(
      facts('a', 4),
      [1, 0.5, 0.5, 0].map((v, i) => completed('a', i + 1, v as 0 | 0.5 | 1)),
    );
    expect(metrics['completion_rate']?.mean).toBe(0.25);
    expect(metrics['partial_rate']?.mean).toBe(0.5);
  });

  test('a completion that failed without a value is no success, and not known to be partial or none', () => {
    const failed = score('task_completion', null, { passed: false });
    const { metrics } = reduceCase(facts('a', 1), [trial('a', 1, { status: 'failed', scores: [failed] })]);
    expect(metrics['completion_rate']).toMatchObject({ mean: 0, scored: 1 });
    expect(metrics['partial_rate']).toMatchObject({ mean: null, scored: 0, applicable: 1 });
  });

  test('a metric applies by plan, else by the scores; completion of a case without any score applies', () => {
    const lost = reduceCase(facts('a', 2), [errored('a', 1)]);
    expect(lost.metrics['completion_rate']).toMatchObject({ mean: null, scored: 0, applicable: 2 });
    expect(lost.metrics['tool_score']).toBeUndefined();
    const planned = reduceCase(facts('a', 2, { applies: ['tool_score'] }), [errored('a', 1)]);
    expect(planned.metrics['tool_score']).toMatchObject({ mean: null, applicable: 2 });
    expect(planned.metrics['completion_rate']).toBeUndefined();
    const toolsOnly = reduceCase(facts('a', 1), [trial('a', 1, { scores: [score('tool_score', 1)] })]);
    expect(toolsOnly.metrics['completion_rate']).toBeUndefined();
    const nulls = reduceCase(facts('a', 1), [trial('a', 1, { scores: [score('answer_quality', null)] })]);
    expect(nulls.metrics['answer_quality']).toMatchObject({ mean: null, applicable: 1 });
  });

  test('pass@k and pass^k by hand: n = 4, c = 2', () => {
    const result = reduceCase(
      facts('a', 5),
      [1, 2, 3, 4].map((index) => completed('a', index, index <= 2 ? 1 : 0)),
    );
    // 1 - C(2,2)/C(4,2) = 5/6; C(2,2)/C(4,2) = 1/6; three of two failures is impossible
    expect(result.pass_at_k).toEqual([0.5, expect.closeTo(5 / 6, 12), 1, 1, null]);
    expect(result.pass_hat_k).toEqual([0.5, expect.closeTo(1 / 6, 12), 0, 0, null]);
  });

  test('the layer of a failed trial is the lowest that fails; null never fails one; passed trials have none', () => {
    const failed = (index: number, scores: TrialRecord['scores']) => trial('a', index, { status: 'failed', scores });
    const result = reduceCase(facts('a', 5), [
      failed(1, [score('plan_quality', 0.69), score('tool_score', 0.1)]),
      failed(2, [score('plan_quality', 0.7), score('tool_score', 0.79), score('task_completion', 0)]),
      failed(3, [score('plan_quality', null), score('tool_score', 0.8 - 1e-12), score('task_completion', 0.5)]),
      failed(4, [score('tool_score', null), score('task_completion', 1), score('step_efficiency', 0.5)]),
      trial('a', 5, { scores: [score('tool_score', 0.1)] }),
    ]);
    expect(result.layers).toEqual({ L1: 1, L2: 1, L3: 1 });
    expect(result.layer).toBe('L1');
  });

  test('a deciding score about the calls that failed is the tool layer, whatever the tool score; an informative one is not', () => {
    const failed = (index: number, scorer: string, deciding: boolean) =>
      trial('a', index, {
        status: 'failed',
        scores: [score('tool_score', 0.9), score('task_completion', 0), score(scorer, 0, { passed: false, deciding })],
      });
    const layers = (one: TrialRecord) => reduceCase(facts('a', 1), [one]).layer;
    for (const scorer of ['tool_match', 'must_call', 'must_not_call', 'calls_per_tool', 'high_risk_approval']) {
      expect(layers(failed(1, scorer, true)), scorer).toBe('L2');
      expect(layers(failed(1, scorer, false)), scorer).toBe('L3');
    }
    expect(layers(failed(1, 'answer_contains', true))).toBe('L3');
  });

  test('a failure says what decided, and the first wrong step beside it', () => {
    const reason = 'call 1 quote: sym wanted "AB", got "BA"';
    const [failure] = reduceCase(facts('a', 1), [
      trial('a', 1, {
        status: 'failed',
        scores: [
          score('task_completion', 0, { deciding: true, reason: 'failure: 0 of 1 criteria hold' }),
          score('answer_contains', 0, { deciding: true, reason: 'answer lacks "88"' }),
          score('tool_args', 0, { reason }),
        ],
      }),
    ]).failures;
    expect(failure).toEqual({
      trial_index: 1,
      status: 'failed',
      scorer: 'answer_contains',
      reason: 'answer lacks "88"',
      first_wrong_step: reason,
    });
  });

  test('a trial that nothing decides says so, not how it ended', () => {
    const [failure] = reduceCase(facts('a', 1), [
      trial('a', 1, { status: 'unscored', scores: [score('tool_score', 0.5)] }),
    ]).failures;
    expect(failure).toMatchObject({ status: 'unscored', scorer: null });
    expect(failure?.reason).toMatch(/^no score decides this case: add expected\.match/);
  });

  test('a violation speaks before any other reason, and is counted though the trial was canceled', () => {
    const veto = score('must_not_call', 0, { violation: true, deciding: true, reason: 'refund was called' });
    const result = reduceCase(facts('a', 2), [
      trial('a', 1, { status: 'failed', scores: [score('tool_match', 0, { deciding: true, reason: 'x' }), veto] }),
      trial('a', 2, { status: 'canceled', scores: [veto] }),
    ]);
    expect(result.failures[0]).toMatchObject({
      scorer: 'must_not_call',
      reason: 'refund was called',
      first_wrong_step: 'x',
    });
    expect(result.violations).toBe(2);
  });

  test('error kinds: of errored trials, and why a judge gave no verdict', () => {
    const unscored = (index: number, reason: string) =>
      trial('a', index, { status: 'unscored', scores: [score('task_completion', null, { deciding: true, reason })] });
    const result = reduceCase(facts('a', 4), [
      errored('a', 1, 'rate_limit'),
      unscored(2, 'judge_unparsable: no JSON object'),
      unscored(3, 'judge_unparsable'),
      unscored(4, 'not scored: the judge gave no verdict'),
    ]);
    expect(result.error_kinds).toEqual({ judge_unparsable: 2, rate_limit: 1, unscored: 1 });
  });

  test('money and tokens: unknown stays unknown; what never ran costs nothing', () => {
    expect(reduceCase(facts('a', 3), [completed('a', 1, 1), errored('a', 2)])).toMatchObject({
      cost_usd: 0.001,
      tokens: 100,
    });
    const unknown = completed('a', 2, 1, { tokens: null, cost_usd: null });
    expect(reduceCase(facts('a', 3), [completed('a', 1, 1), unknown])).toMatchObject({
      cost_usd: null,
      tokens: null,
      judge_tokens: 0,
    });
  });

  test('refuses trials twice, unplanned, or of another case', () => {
    expect(() => reduceCase(facts('a', 2), [completed('a', 1, 1), completed('a', 1, 1)])).toThrow('given twice');
    expect(() => reduceCase(facts('a', 2), [completed('a', 3, 1)])).toThrow('not among the 2 planned');
    expect(() => reduceCase(facts('a', 2), [completed('b', 1, 1)])).toThrow('belongs to case b');
  });

  test('the order of trials, and of scores within one, changes nothing, to the bit', () => {
    const value = fc.option(fc.double({ min: 0, max: 1, noNaN: true }));
    const one = fc.record({
      tool: value,
      quality: value,
      completion: value,
      latency: fc.double({ min: 0, max: 1e5, noNaN: true }),
      status: fc.constantFrom('passed', 'failed', 'unscored', 'errored', null),
    });
    fc.assert(
      fc.property(fc.array(one, { minLength: 1, maxLength: 12 }), fc.infiniteStream(fc.nat()), (raw, keys) => {
        const trials = raw.map((r, i) =>
          trial('a', i + 1, {
            status: r.status as TrialRecord['status'],
            latency_ms: r.latency,
            scores: [
              score('tool_score', r.tool, { deciding: true, reason: 'tool' }),
              score('answer_quality', r.quality, { deciding: true, reason: 'quality' }),
              score('task_completion', r.completion, { deciding: true, reason: 'completion' }),
            ],
          }),
        );
        const shuffled = trials
          .map((t) => ({ t: { ...t, scores: [...t.scores].reverse() }, key: keys.next().value ?? 0 }))
          .sort((a, b) => a.key - b.key)
          .map(({ t }) => t);
        expect(JSON.stringify(reduceCase(facts('a', 12), shuffled))).toBe(
          JSON.stringify(reduceCase(facts('a', 12), trials)),
        );
      }),
      { numRuns: 200 },
    );
  });
});
