import { describe, expect, test } from 'vitest';
import type { CaseResult, Comparison } from '../../../src/core/evaluation.ts';
import type { BaselineFacts } from '../../../src/core/baseline.ts';
import type { ComparisonInput } from '../../../src/statistics/compare.ts';
import { compareEvaluations } from '../../../src/statistics/compare.ts';
import { reduceCase } from '../../../src/statistics/reduce.ts';
import { completed, errored, facts, score, trial } from '../../fixtures/trials.ts';

const SAME: BaselineFacts = { prompt_hash: 'p', judge_model: 'j', judge_prompt_hash: 'q' };
const OFF = { alert: 0.05, max_drop: 0.1, significance: 'off', alpha: 0.05 } as const;

function compare(
  baseline: CaseResult[],
  current: CaseResult[],
  more: Partial<ComparisonInput> = {},
): Promise<Comparison> {
  return compareEvaluations({
    baseline,
    current,
    baselineEvaluationId: 'ev-1',
    regression: OFF,
    facts: { baseline: SAME, current: SAME },
    ...more,
  });
}

function cases(passes: (0 | 1)[][], hash = ''): CaseResult[] {
  return passes.map((values, i) => {
    const id = `c${String(i).padStart(3, '0')}`;
    return reduceCase(
      facts(id, values.length, { content_hash: `${id}${hash}` }),
      values.map((value, t) => completed(id, t + 1, value)),
    );
  });
}

function delta(comparison: Comparison, metric: string) {
  const found = comparison.deltas.find((one) => one.metric === metric);
  if (found === undefined) throw new Error(`no delta of ${metric}`);
  return found;
}

const repeat = (n: number, value: 0 | 1): (0 | 1)[][] => Array.from({ length: n }, () => [value]);

describe('compareEvaluations', () => {
  test('a scorer of the suite’s own is compared where both evaluations have it', async () => {
    const of = (value: number, own_scorers: string[]) => [
      reduceCase(facts('a', 1, { own_scorers }), [
        completed('a', 1, 1, { scores: own_scorers.map((name) => score(name, value)) }),
      ]),
    ];
    const result = await compare(of(0.9, ['brevity', 'gone']), of(0.5, ['brevity', 'new']));
    expect(delta(result, 'brevity')).toMatchObject({ baseline: 0.9, value: 0.5, kind: 'difference', pairs: 1 });
    expect(delta(result, 'brevity').verdict).toBe('regressed');
    expect(result.deltas.map(({ metric }) => metric)).not.toContain('gone');
    expect(result.deltas.map(({ metric }) => metric)).not.toContain('new');
  });

  test('pairs cases by id and equal content; changed, new and removed ones are listed, not compared', async () => {
    const before = cases([[1], [1], [1], [0]]);
    const [a, b, , d] = cases([[1], [0], [1], [1]]);
    const changed = { ...b!, content_hash: 'other' };
    const added = reduceCase(facts('c9', 1), [completed('c9', 1, 0)]);
    const result = await compare(before, [a!, changed, d!, added]);
    expect(result).toMatchObject({
      compared_cases: 2,
      changed_cases: ['c001'],
      removed_cases: ['c002'],
      new_cases: ['c9'],
      newly_failing: [],
      newly_passing: ['c003'],
      newly_flaky: [],
    });
    expect(delta(result, 'completion_rate')).toMatchObject({ baseline: 0.5, value: 1, delta: 0.5, pairs: 2 });
  });

  test('newly failing, passing, flaky; a case without a verdict before is none of them', async () => {
    const lost = (id: string) => reduceCase(facts(id, 2, { content_hash: id }), [errored(id, 1)]);
    const before = [
      ...cases([
        [1, 1],
        [1, 0],
        [0, 0],
        [1, 1],
      ]),
      lost('c004'),
    ];
    const after = cases([
      [0, 0],
      [1, 1],
      [1, 0],
      [1, 1],
      [0, 0],
    ]);
    expect(await compare(before, after)).toMatchObject({
      newly_failing: ['c000'],
      newly_passing: ['c001'],
      newly_flaky: ['c002'],
    });
  });

  test('thresholds: alert over .05, regressed over .10, exactly .05 and .10 are neither (0.90 - 0.85 in floats)', async () => {
    const verdict = async (lost: number, n: number) => {
      const before = cases(repeat(n, 1));
      const after = cases([...repeat(lost, 0), ...repeat(n - lost, 1)]);
      return delta(await compare(before, after), 'completion_rate').verdict;
    };
    expect(await Promise.all([verdict(1, 20), verdict(3, 50), verdict(2, 20), verdict(11, 100)])).toEqual([
      'same',
      'alert',
      'alert',
      'regressed',
    ]);
    const quality = (id: string, value: number) =>
      reduceCase(facts(id, 1), [trial(id, 1, { scores: [score('tool_score', value)] })]);
    expect(delta(await compare([quality('a', 0.9)], [quality('a', 0.85)]), 'tool_score').verdict).toBe('same');
    expect(delta(await compare([quality('a', 0.9)], [quality('a', 0.8)]), 'tool_score').verdict).toBe('alert');
    expect(delta(await compare([quality('a', 0.8)], [quality('a', 0.9)]), 'tool_score').verdict).toBe('better');
  });

  test('significance required: a drop counts only if the paired test rejects, after Holm over the metrics', async () => {
    const required = { regression: { ...OFF, significance: 'required' as const } };
    const before = cases(repeat(20, 1));
    // 5 discordant pairs: McNemar p = .0625
    const weak = await compare(before, cases([...repeat(5, 0), ...repeat(15, 1)]), required);
    expect(delta(weak, 'completion_rate')).toMatchObject({ p: 0.0625, verdict: 'not_significant' });
    // 6: p = .03125, but three metrics drop together, so Holm gives .09375
    const corrected = await compare(before, cases([...repeat(6, 0), ...repeat(14, 1)]), required);
    expect(delta(corrected, 'completion_rate')).toMatchObject({
      p: 0.03125,
      p_adjusted: 0.09375,
      verdict: 'not_significant',
    });
    const strong = await compare(before, cases([...repeat(10, 0), ...repeat(10, 1)]), required);
    expect(delta(strong, 'completion_rate').verdict).toBe('regressed');
  });

  test('several trials a case: permutation on case means; one trial: McNemar', async () => {
    const before = cases([
      [1, 1],
      [1, 1],
      [1, 1],
      [1, 1],
      [1, 0],
    ]);
    const after = cases([
      [1, 0],
      [1, 0],
      [0, 0],
      [1, 1],
      [1, 0],
    ]);
    // deltas -.5, -.5, -1, 0, 0: of 8 sign patterns only the two extremes reach 2
    expect(delta(await compare(before, after), 'completion_rate').p).toBe(0.25);
    // case pass stays one value a case: three of the passing four no longer pass
    expect(delta(await compare(before, after), 'case_pass_rate').p).toBe(0.25);
  });

  test('latency, tokens and cost compare by ratio; slower alerts, faster is better, neither fails', async () => {
    const timed = (ms: number[]) =>
      ms.map((latency_ms, i) =>
        reduceCase(facts(`c${i}`, 1), [completed(`c${i}`, 1, 1, { latency_ms, tokens: latency_ms })]),
      );
    const before = timed([1000, 1100, 900, 1000]);
    expect(delta(await compare(before, timed([2010, 2190, 1800, 2005])), 'mean_latency_ms')).toMatchObject({
      kind: 'ratio',
      delta: expect.closeTo(2.0013, 3),
      verdict: 'alert',
      p_adjusted: null,
    });
    expect(delta(await compare(before, timed([510, 540, 450, 505])), 'mean_tokens').verdict).toBe('better');
    expect(delta(await compare(before, timed([1010, 1090, 905, 1000])), 'mean_latency_ms').verdict).toBe('same');
    expect(delta(await compare(before, timed([4000, 100, 100, 500])), 'mean_latency_ms').verdict).toBe(
      'not_significant',
    );
  });

  test('nothing spent before and nothing now is the same; something out of nothing is not known as a ratio', async () => {
    const spent = (cost_usd: number): CaseResult[] =>
      ['a', 'b', 'c'].map((id) => reduceCase(facts(id, 1), [completed(id, 1, 1, { cost_usd })]));
    const free = { metric: 'cost_usd', baseline: 0, delta: null };
    expect(delta(await compare(spent(0), spent(0)), 'cost_usd')).toMatchObject({ ...free, value: 0, verdict: 'same' });
    expect(delta(await compare(spent(0), spent(0.1)), 'cost_usd')).toMatchObject({ ...free, verdict: 'unknown' });
  });

  test('the interval of a difference of [0,1] values stays within [-1,1], however few the cases', async () => {
    const scored = (values: number[]): CaseResult[] =>
      values.map((value, i) =>
        reduceCase(facts(`c${i}`, 1), [trial(`c${i}`, 1, { scores: [score('tool_score', value)] })]),
      );
    const [before, after] = [scored([1, 1]), scored([0, 0.5])];
    expect(delta(await compare(before, after), 'tool_score')).toMatchObject({ delta: -0.75, low: -1 });
    expect(delta(await compare(after, before), 'tool_score')).toMatchObject({ delta: 0.75, high: 1 });
  });

  test('the same input gives the same comparison, to the bit', async () => {
    const mixed = (shift: number) =>
      cases(Array.from({ length: 40 }, (_, i) => [(i + shift) % 3 === 0 ? 0 : 1, (i * shift) % 5 === 0 ? 0 : 1]));
    expect(JSON.stringify(await compare(mixed(1), mixed(2)))).toBe(JSON.stringify(await compare(mixed(1), mixed(2))));
  });

  test('a stale baseline says what changed', async () => {
    const current = { ...SAME, judge_model: 'judge-2', prompt_hash: 'x'.repeat(64) };
    const { stale } = await compare(cases([[1]]), cases([[1]]), { facts: { baseline: SAME, current } });
    expect(stale).toEqual(['agent prompt changed: p → xxxxxxxx', 'judge model changed: j → judge-2']);
  });

  test('cases out of order are refused, since they would go unmatched in silence', async () => {
    const [a, b] = cases([[1], [1]]);
    await expect(compare([b!, a!], [a!, b!])).rejects.toThrow('c000 came after c001');
  });

  test('pages that arrive in their own time are paired as lists are; it pauses every 500 cases and after each metric', async () => {
    async function* late(list: CaseResult[]): AsyncGenerator<CaseResult> {
      for (const one of list) yield await Promise.resolve(one);
    }
    const many = (value: 0 | 1) =>
      Array.from({ length: 1_200 }, (_, i) => {
        const id = String(i).padStart(4, '0');
        return reduceCase(facts(id, 1, { content_hash: id }), [completed(id, 1, i % 7 === 0 ? value : 1)]);
      });
    const [before, after] = [many(1).slice(100), many(0).slice(0, 1_100)];
    let pauses = 0;
    const options = {
      baselineEvaluationId: 'ev-1',
      regression: OFF,
      facts: { baseline: SAME, current: SAME },
      pause: () => {
        pauses += 1;
        return Promise.resolve();
      },
    };
    const streamed = await compareEvaluations({ baseline: late(before), current: late(after), ...options });
    expect(streamed).toMatchObject({
      compared_cases: 1_000,
      new_cases: { length: 100 },
      removed_cases: { length: 100 },
    });
    expect(pauses).toBeGreaterThan(2 + 10);
    expect(streamed).toEqual(await compare(before, after));
  });

  test('nothing in common: no deltas', async () => {
    expect(await compare(cases([[1]]), cases([[1]], 'changed'))).toMatchObject({ compared_cases: 0, deltas: [] });
  });
});
