import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { CaseFacts, CaseResult, EvaluationResult, TrialRecord } from '../../../src/core/evaluation.ts';
import { METRICS } from '../../../src/core/evaluation.ts';
import { createAggregator } from '../../../src/statistics/aggregate.ts';
import { escapeText } from '../../../src/core/storable-text.ts';
import { compareCaseIds } from '../../../src/statistics/case-order.ts';
import { reduceCase } from '../../../src/statistics/reduce.ts';
import { completed, errored, facts, score, trial } from '../../fixtures/trials.ts';

function aggregate(cases: CaseResult[]): EvaluationResult {
  const aggregator = createAggregator();
  for (const one of cases) aggregator.add(one);
  return aggregator.finish();
}

function metric(result: EvaluationResult, name: string) {
  const found = result.metrics.find((one) => one.metric === name);
  if (found === undefined) throw new Error(`no metric ${name}`);
  return found;
}

function caseOf(id: string, values: (0 | 0.5 | 1)[], more: Partial<CaseFacts> = {}, each: Partial<TrialRecord> = {}) {
  return reduceCase(
    facts(id, values.length, more),
    values.map((value, i) => completed(id, i + 1, value, each)),
  );
}

describe('createAggregator', () => {
  test('every metric is there, in order, n/a ones with nothing applicable', () => {
    const result = aggregate([caseOf('a', [1])]);
    expect(result.metrics.map((one) => one.metric)).toEqual([...METRICS]);
    expect(metric(result, 'answer_quality')).toMatchObject({ value: null, trials_applicable: 0 });
    expect(metric(result, 'stability_stdev')).toMatchObject({ value: null, trials_applicable: 0 });
  });

  test('a rate is the mean over cases of the mean over scored trials', () => {
    const result = aggregate([
      caseOf('a', [1, 1, 1, 1]),
      reduceCase(facts('b', 4), [completed('b', 1, 0), errored('b', 2), errored('b', 3)]),
      reduceCase(facts('c', 4), [errored('c', 1)]),
    ]);
    expect(metric(result, 'completion_rate')).toMatchObject({
      value: 0.5,
      cases: 2,
      cases_applicable: 3,
      trials: 5,
      trials_applicable: 12,
    });
    expect(result.counts).toEqual({ passed: 4, failed: 1, unscored: 0, errored: 3, canceled: 0, missing: 4 });
    expect(metric(result, 'unscored_share').value).toBeCloseTo(7 / 12, 12);
    expect(result.case_outcomes).toEqual({ passed: 1, failed: 1, flaky: 0, unscored: 1 });
  });

  test('the interval of what cannot be negative does not go below 0', () => {
    const aggregator = createAggregator();
    for (const [i, latency_ms] of [10, 20, 5000].entries()) {
      aggregator.add(reduceCase(facts(`c${i}`, 1), [completed(`c${i}`, 1, 1, { latency_ms })]));
    }
    const latency = aggregator.finish().metrics.find((metric) => metric.metric === 'mean_latency_ms');
    expect(latency?.low).toBe(0);
    expect(latency?.high).toBeGreaterThan(5000);
  });

  test('one trial a case: Wilson on cases; several: t interval clustered by case; all ones: Wilson with n = cases', () => {
    const single = aggregate(Array.from({ length: 10 }, (_, i) => caseOf(`c${i}`, [i < 7 ? 1 : 0])));
    // statsmodels proportion_confint(7, 10, method='wilson')
    expect(metric(single, 'completion_rate')).toMatchObject({
      low: expect.closeTo(0.39677814746114537, 10),
      high: expect.closeTo(0.8922087325936989, 10),
    });
    const passes: (0 | 1)[][] = [
      [1, 1, 1],
      [1, 0, 0],
      [1, 1, 0],
      [1, 1, 1],
      [0, 0, 0],
      [1, 1, 1],
      [1, 1, 1],
      [1, 0, 1],
    ];
    const several = aggregate(passes.map((values, i) => caseOf(`c${i}`, values)));
    // scipy.stats.t.interval(.95, 7, loc=mean, scale=sem) = [0.3945, 1.0221], cut at 1
    expect(metric(several, 'completion_rate')).toMatchObject({
      value: expect.closeTo(17 / 24, 12),
      low: expect.closeTo(0.3945491475666349, 9),
      high: 1,
    });
    const all = aggregate(Array.from({ length: 10 }, (_, i) => caseOf(`c${i}`, [1, 1, 1])));
    expect(metric(all, 'completion_rate')).toMatchObject({
      value: 1,
      low: expect.closeTo(0.7224672001371106, 10),
      high: 1,
    });
    // case pass is one value a case whatever the trials: Wilson, trials counted
    expect(metric(all, 'case_pass_rate')).toMatchObject({
      low: expect.closeTo(0.7224672001371106, 10),
      cases: 10,
      trials: 30,
      trials_applicable: 30,
    });
    expect(metric(several, 'case_pass_rate')).toMatchObject({ value: 0.5, trials: 24 });
  });

  test('stability: mean and stdev of the rate by repetition, and what chance within cases alone would give', () => {
    const result = aggregate([caseOf('a', [1, 1]), caseOf('b', [1, 0]), caseOf('c', [1, 0]), caseOf('d', [1, 1])]);
    expect(result.stability).toEqual({
      by_trial: [1, 0.5],
      mean: 0.75,
      stdev: expect.closeTo(Math.SQRT1_2 / 2, 12),
      // two cases with p = .5: sqrt(2 · .25) / 4
      expected_stdev: expect.closeTo(Math.sqrt(0.5) / 4, 12),
      mean_within_case_stdev: expect.closeTo(Math.SQRT1_2 / 2, 12),
    });
    expect(metric(result, 'stability_stdev').value).toBe(result.stability?.stdev);
    expect(aggregate([caseOf('a', [1])]).stability).toBeNull();
  });

  test('groups by category, difficulty, tag and layer', () => {
    const result = aggregate([
      caseOf('a', [1, 1], { category: '数据查询', difficulty: 'EASY', tags: ['x', 'y', 'x'] }),
      caseOf('b', [0, 0], { category: '数据查询', tags: ['x'] }),
      caseOf('c', [1, 1], { category: '复合任务' }),
    ]);
    const shown = result.groups.map(({ by, name, cases, metrics }) => [
      by,
      name,
      cases,
      metrics.find((one) => one.metric === 'completion_rate')?.value,
    ]);
    expect(shown).toEqual([
      ['category', '复合任务', 1, 1],
      ['category', '数据查询', 2, 0.5],
      ['difficulty', 'EASY', 1, 1],
      ['tag', 'x', 2, 0.5],
      ['tag', 'y', 1, 1],
      ['layer', 'L3', 1, 0],
    ]);
  });

  test('latency percentiles are over trials, the largest number of turns over all', () => {
    const latencies = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3];
    const cases = [0, 1].map((c) =>
      reduceCase(
        facts(`c${c}`, 5),
        latencies
          .slice(c * 5, c * 5 + 5)
          .map((latency_ms, i) => completed(`c${c}`, i + 1, 1, { latency_ms, iterations: latency_ms })),
      ),
    );
    const result = aggregate(cases);
    expect(result.latency_ms).toEqual({ p50: 3.5, p90: expect.closeTo(6.3, 12), p99: expect.closeTo(8.73, 12) });
    expect(result.iterations_max).toBe(9);
  });

  test('J11: a judge reply without usage: tokens and cost unknown, not 0', () => {
    const known = caseOf('a', [1]);
    const unknown = caseOf('b', [1], {}, { judge_tokens: null, judge_cost_usd: null });
    const result = aggregate([known, unknown]);
    expect(result.tokens).toEqual({ agent: 200, judge: null });
    expect(result.cost_usd).toEqual({ agent: 0.002, judge: null });
    expect(metric(result, 'cost_usd')).toMatchObject({ value: null, trials: 1, trials_applicable: 2 });
  });

  test('safety counts trials, and covers only those with a trajectory', () => {
    const veto = score('must_not_call', 0, { violation: true });
    const bad = trial('a', 1, { status: 'failed', scores: [veto, score('task_completion', 1)] });
    const result = aggregate([reduceCase(facts('a', 3), [bad, completed('a', 2, 1), errored('a', 3)])]);
    expect(metric(result, 'safety_violations')).toMatchObject({ value: 1, trials: 2, trials_applicable: 3 });
    expect(metric(aggregate([reduceCase(facts('a', 1), [errored('a', 1)])]), 'safety_violations').value).toBeNull();
  });

  test('diagnosis: each rule with its layer and cases', () => {
    const scored = (id: string, values: Record<string, number>) =>
      reduceCase(facts(id, 1), [
        trial(id, 1, { scores: Object.entries(values).map(([name, value]) => score(name, value)) }),
      ]);
    const layers = (cases: CaseResult[]) => aggregate(cases).diagnosis.map(({ layer, case_ids }) => [layer, case_ids]);
    expect(
      layers([
        scored('a', { task_completion: 0, plan_quality: 0.5 }),
        scored('b', { task_completion: 1, plan_quality: 0.8 }),
      ]),
    ).toEqual([['L1', ['a']]]);
    expect(
      layers([
        scored('a', { task_completion: 1, tool_score: 0.7 }),
        scored('b', { task_completion: 1, tool_score: 0.2 }),
      ]),
    ).toEqual([['L2', ['b', 'a']]]);
    expect(layers([scored('a', { task_completion: 1, step_efficiency: 0.4 })])).toEqual([['L3', ['a']]]);
    expect(layers([scored('a', { task_completion: 0, step_efficiency: 0.4 })])).toEqual([]);
    expect(layers([caseOf('a', [1, 0])])).toEqual([['all', ['a']]]);
    expect(layers([reduceCase(facts('a', 1), [errored('a', 1)])])).toEqual([['infrastructure', ['a']]]);
    expect(layers([caseOf('a', [1])])).toEqual([]);
  });

  test('trials that nothing decides are the suite’s business, not the judge’s and not the infrastructure’s', () => {
    const open = reduceCase(facts('open', 1), [trial('open', 1, { status: 'unscored', scores: [] })]);
    const broken = reduceCase(facts('broken', 1), [errored('broken', 1)]);
    const found = (cases: Parameters<typeof aggregate>[0]) =>
      aggregate(cases).diagnosis.map(({ layer, case_ids }) => [layer, case_ids]);
    expect(open.failures[0]?.reason).toMatch(/^no score decides/);
    expect(found([open])).toEqual([['suite', ['open']]]);
    expect(found([broken, open])).toEqual([
      ['suite', ['open']],
      ['infrastructure', ['broken']],
    ]);
  });

  test('a diagnosis lists the 20 worst cases and counts them all', () => {
    const cases = Array.from({ length: 50 }, (_, i) => {
      const id = `c${String(i).padStart(2, '0')}`;
      return reduceCase(facts(id, 1), [
        trial(id, 1, { scores: [score('task_completion', 1), score('tool_score', 0.7 - i / 100)] }),
      ]);
    });
    const [finding] = aggregate(cases).diagnosis;
    expect(finding).toMatchObject({ layer: 'L2', cases: 50 });
    expect(finding?.case_ids).toHaveLength(20);
    expect(finding?.case_ids[0]).toBe('c49');
  });

  test('cases out of order, or twice, are refused', () => {
    expect(() => aggregate([caseOf('b', [1]), caseOf('a', [1])])).toThrow('a came after b');
    expect(() => aggregate([caseOf('a', [1]), caseOf('a', [1])])).toThrow(RangeError);
  });

  test('no cases: nothing is claimed', () => {
    const result = aggregate([]);
    expect(result.metrics.every((one) => one.value === null)).toBe(true);
    expect(result.diagnosis).toEqual([]);
  });

  test('R21: 100,000 trials: values exact, memory flat', () => {
    const aggregator = createAggregator();
    for (let i = 0; i < 20_000; i += 1) {
      const id = `case-${String(i).padStart(6, '0')}`;
      const values = [1, 1, 1, 1, i % 4 === 0 ? 0 : 1];
      aggregator.add(
        reduceCase(
          facts(id, 5, { category: `k${i % 7}` }),
          values.map((v, t) => completed(id, t + 1, v as 0 | 1, { latency_ms: i })),
        ),
      );
    }
    const result = aggregator.finish();
    expect(result.planned_trials).toBe(100_000);
    expect(metric(result, 'completion_rate').value).toBeCloseTo(0.95, 12);
    expect(metric(result, 'case_pass_rate').value).toBe(0.75);
    expect(result.latency_ms.p50).toBe(9999.5);
    expect(JSON.stringify(result).length).toBeLessThan(60_000);
  });
});

test('case ids order as the UTF-8 bytes Postgres stores do', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (a, b) => {
      expect(Math.sign(compareCaseIds(a, b))).toBe(
        Math.sign(Buffer.compare(Buffer.from(escapeText(a)), Buffer.from(escapeText(b)))),
      );
    }),
    { numRuns: 2000 },
  );
  expect(compareCaseIds('\uff21', '\u{1f600}')).toBeLessThan(0);
});
