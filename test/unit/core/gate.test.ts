import { describe, expect, test } from 'vitest';
import type { CaseResult, Comparison, GateResult } from '../../../src/core/evaluation.ts';
import { evaluateGates, gatesOf, verdictOf } from '../../../src/core/gate.ts';
import type { GateSuite } from '../../../src/core/gate.ts';
import { createAggregator } from '../../../src/statistics/aggregate.ts';
import { reduceCase } from '../../../src/statistics/reduce.ts';
import { completed, errored, facts, score, trial } from '../../fixtures/trials.ts';

const REGRESSION = {
  alert: 0.05,
  max_drop: 0.1,
  significance: 'off',
  alpha: 0.05,
  strict: false,
  label: 'main',
} as const;
const SUITE: GateSuite = { gates: [], gates_off: [], regression: REGRESSION };
const DONE = { status: 'completed', stop: null } as const;

function gates(
  cases: CaseResult[],
  suite: Partial<GateSuite> = {},
  comparison: Comparison | null = null,
): GateResult[] {
  const aggregator = createAggregator();
  for (const one of cases) aggregator.add(one);
  return evaluateGates(aggregator.finish(), cases, comparison, { ...SUITE, ...suite });
}

function gate(all: GateResult[], name: string): GateResult {
  const found = all.find((one) => one.gate === name);
  if (found === undefined) throw new Error(`no gate ${name}`);
  return found;
}

const id = (i: number): string => `c${String(i).padStart(3, '0')}`;

/** Cases of one trial; the first `failing` fail. */
function cases(n: number, failing = 0): CaseResult[] {
  return Array.from({ length: n }, (_, i) => reduceCase(facts(id(i), 1), [completed(id(i), 1, i < failing ? 0 : 1)]));
}

function judged(values: (number | null)[]): CaseResult[] {
  return values.map((value, i) =>
    reduceCase(facts(id(i), 1), [
      trial(id(i), 1, { scores: [score('task_completion', 1), score('answer_quality', value)] }),
    ]),
  );
}

const veto = score('must_not_call', 0, { violation: true, deciding: true, reason: 'refund was called' });
const unsafe = (i: number): CaseResult =>
  reduceCase(facts(id(i), 1), [trial(id(i), 1, { status: 'failed', scores: [veto, score('task_completion', 1)] })]);

describe('gates', () => {
  test('all well: every applicable gate passes, exit 0', () => {
    const all = gates(cases(20));
    expect(all.map((one) => [one.gate, one.verdict])).toEqual([
      ['safety_violations', 'passed'],
      ['completion_rate', 'passed'],
      ['case_pass_rate', 'passed'],
      ['tool_score', 'not_applicable'],
      ['answer_quality', 'not_applicable'],
      ['unscored_share', 'passed'],
      ['regression', 'not_applicable'],
    ]);
    expect(verdictOf(all, DONE)).toEqual({ exit_code: 0, summary: 'Passed: 4 gates held.' });
  });

  test('completion may be exactly .85, case pass rate may not; the cases behind it are named', () => {
    const all = gates(cases(20, 3));
    expect(gate(all, 'completion_rate')).toMatchObject({ verdict: 'passed', got: 0.85, wanted: '>= 0.85' });
    expect(gate(all, 'case_pass_rate')).toMatchObject({
      verdict: 'failed',
      wanted: '> 0.85',
      trials: 20,
      trials_applicable: 20,
      case_ids: ['c000', 'c001', 'c002'],
      reason: '3 cases behind it',
    });
    expect(verdictOf(all, DONE)).toEqual({ exit_code: 1, summary: 'Failed gates: case_pass_rate.' });
  });

  test('a safety violation is exit 1 before anything else, and nothing loosens it', () => {
    const many = [...Array.from({ length: 5 }, (_, i) => reduceCase(facts(id(i), 1), [errored(id(i), 1)])), unsafe(5)];
    const loose = {
      gates: [{ name: 'safety_violations', metric: 'safety_violations', max: 10 }],
      gates_off: ['safety_violations'],
    };
    const all = gates(many, loose);
    expect(gate(all, 'safety_violations')).toMatchObject({
      verdict: 'failed',
      got: 1,
      wanted: '= 0',
      case_ids: ['c005'],
    });
    expect(verdictOf(all, DONE).exit_code).toBe(1);
    const stop = { kind: 'unauthorized', message: 'the key was refused' } as const;
    expect(verdictOf(all, { status: 'stopped', stop }).exit_code).toBe(1);
    expect(verdictOf(all, { status: 'canceled', stop: null }).exit_code).toBe(1);
  });

  test('incomplete comes before a failed gate', () => {
    const all = gates([...cases(10, 9), reduceCase(facts('c900', 1), [errored('c900', 1)])]);
    expect(gate(all, 'completion_rate').verdict).toBe('inconclusive');
    expect(gate(all, 'unscored_share')).toMatchObject({ verdict: 'failed', case_ids: ['c900'] });
    expect(verdictOf(all, DONE).exit_code).toBe(3);
  });

  test('coverage of exactly .98 decides, under it does not', () => {
    const lost = (i: number) => reduceCase(facts(id(i), 1), [errored(id(i), 1)]);
    expect(gate(gates([...cases(49), lost(49)]), 'completion_rate').verdict).toBe('passed');
    expect(gate(gates([...cases(48), lost(48)]), 'completion_rate').verdict).toBe('inconclusive');
  });

  test('R12: all trials errored is exit 3, never 0, whatever gates are off', () => {
    const lost = Array.from({ length: 5 }, (_, i) =>
      reduceCase(facts(id(i), 2), [errored(id(i), 1), errored(id(i), 2)]),
    );
    const off = [
      'completion_rate',
      'case_pass_rate',
      'tool_score',
      'answer_quality',
      'unscored_share',
      'regression',
      'safety_violations',
    ];
    for (const gates_off of [[], off]) {
      expect(verdictOf(gates(lost, { gates_off }), DONE).exit_code).toBe(3);
    }
  });

  test('R12: no case has a verdict although every agent ran: exit 3, whatever gates are off', () => {
    const unscored = Array.from({ length: 5 }, (_, i) =>
      reduceCase(facts(id(i), 1), [
        trial(id(i), 1, { status: 'unscored', scores: [score('task_completion', null, { deciding: true })] }),
      ]),
    );
    const off = ['completion_rate', 'case_pass_rate', 'unscored_share'];
    const all = gates(unscored, { gates_off: off });
    expect(gate(all, 'any_verdict').verdict).toBe('inconclusive');
    expect(verdictOf(all, DONE).exit_code).toBe(3);
    const stop = { kind: 'endpoint_unreachable', message: 'no answer' } as const;
    expect(verdictOf(all, { status: 'stopped', stop }).exit_code).toBe(4);
    const setup = { kind: 'invalid_setup', message: 'the agent module a.ts cannot be loaded' } as const;
    expect(verdictOf(all, { status: 'stopped', stop: setup })).toEqual({
      exit_code: 2,
      summary: 'Stopped early: the agent module a.ts cannot be loaded',
    });
  });

  test('J9: 4 of 10 judged 1.0, 6 judge errors: the mean says n, the gate is inconclusive, not green', () => {
    const all = gates(judged([1, 1, 1, 1, null, null, null, null, null, null]));
    expect(gate(all, 'answer_quality')).toMatchObject({
      got: 1,
      trials: 4,
      trials_applicable: 10,
      verdict: 'inconclusive',
      reason: '4 of 10 trials scored, under 98 %',
    });
    expect(verdictOf(all, DONE)).toEqual({ exit_code: 3, summary: 'Incomplete: inconclusive: answer_quality.' });
  });

  test('J11: a budget gate with unknown cost is inconclusive', () => {
    const cost = (judge_cost_usd: number | null) =>
      reduceCase(facts('a', 1), [completed('a', 1, 1, { judge_cost_usd })]);
    expect(gate(gates([cost(null)], { budget_usd: 1 }), 'budget').verdict).toBe('inconclusive');
    expect(gate(gates([cost(0.5)], { budget_usd: 1 }), 'budget')).toMatchObject({ verdict: 'passed', wanted: '<= 1' });
    expect(gate(gates([cost(1.5)], { budget_usd: 1 }), 'budget')).toMatchObject({ verdict: 'failed', case_ids: ['a'] });
  });

  test('R4: gate breach, spent budget, cancel, endpoint down: different non-zero exit codes', () => {
    const good = gates(cases(20));
    const code = (
      kind: 'budget' | 'quota' | 'endpoint_unreachable' | 'model_not_found' | 'forbidden' | 'unauthorized',
    ) => verdictOf(good, { status: 'stopped', stop: { kind, message: 'x' } }).exit_code;
    expect(verdictOf(gates(cases(20, 20)), DONE).exit_code).toBe(1);
    expect([code('budget'), verdictOf(good, { status: 'canceled', stop: null }).exit_code]).toEqual([3, 3]);
    expect(verdictOf(good, { status: 'running', stop: null }).exit_code).toBe(3);
    expect([
      code('quota'),
      code('endpoint_unreachable'),
      code('model_not_found'),
      code('forbidden'),
      code('unauthorized'),
    ]).toEqual([4, 4, 4, 4, 4]);
    expect(verdictOf([], DONE).exit_code).toBe(3);
  });

  test('fail-fast: a failure stopped it, so the verdict is a failure, whatever is then inconclusive', () => {
    const stop = { kind: 'fail_fast', message: 'trial 1 of c000 failed' } as const;
    const started = [...cases(1, 1), reduceCase(facts('c900', 1), [])];
    const verdict = verdictOf(gates(started), { status: 'stopped', stop });
    expect(verdict.exit_code).toBe(1);
    expect(verdict.summary).toContain('trial 1 of c000 failed');
  });

  test('a suite gate of a default name replaces it; others are added; listed ones are off', () => {
    const names = gatesOf({
      ...SUITE,
      gates: [
        { name: 'completion_rate', metric: 'completion_rate', min: 0.5 },
        { name: 'fast', metric: 'mean_latency_ms', max: 10_000 },
      ],
      gates_off: ['tool_score'],
    }).map(({ name, min }) => [name, min]);
    expect(names).toEqual([
      ['safety_violations', undefined],
      ['completion_rate', 0.5],
      ['case_pass_rate', 0.85],
      ['answer_quality', 0.75],
      ['unscored_share', undefined],
      ['fast', undefined],
    ]);
  });

  test('a gate on a category, on two axes at once, and on one without cases', () => {
    const of = (i: number, category: string, tag: string, value: 0 | 1) =>
      reduceCase(facts(id(i), 1, { category, tags: [tag] }), [completed(id(i), 1, value)]);
    const all = gates([of(0, '数据查询', 'a', 1), of(1, '数据查询', 'b', 0), of(2, '复合任务', 'a', 1)], {
      gates: [
        { name: '数据查询', metric: 'completion_rate', min: 1, category: '数据查询' },
        { name: 'both', metric: 'completion_rate', min: 1, category: '数据查询', tag: 'a' },
        { name: 'none', metric: 'completion_rate', min: 1, category: '闲聊' },
        { name: 'pass', metric: 'case_pass_rate', min: 1, tag: 'b' },
        { name: 'safe', metric: 'safety_violations', max: 0, category: '数据查询' },
      ],
    });
    expect(gate(all, '数据查询')).toMatchObject({ verdict: 'failed', got: 0.5, trials: 2, case_ids: ['c001'] });
    expect(gate(all, 'both')).toMatchObject({ verdict: 'passed', got: 1, trials: 1 });
    expect(gate(all, 'none')).toMatchObject({ verdict: 'not_applicable', got: null });
    expect(gate(all, 'pass')).toMatchObject({ verdict: 'failed', got: 0, case_ids: ['c001'] });
    expect(gate(all, 'safe')).toMatchObject({ verdict: 'passed', trials: 2 });
  });

  test('money of a category is its sum, as that of the evaluation is; an unknown part makes it unknown', () => {
    const of = (i: number, category: string, tag: string, cost_usd: number | null) =>
      reduceCase(facts(id(i), 1, { category, tags: [tag] }), [
        completed(id(i), 1, 1, { cost_usd, judge_cost_usd: 0.25 }),
      ]);
    const suite = {
      gates: [
        { name: 'all', metric: 'cost_usd', max: 3 },
        { name: 'some', metric: 'cost_usd', max: 1, category: 'x' },
        { name: 'both', metric: 'cost_usd', max: 1, category: 'x', tag: 'a' },
      ],
    };
    const all = gates([of(0, 'x', 'a', 0.5), of(1, 'x', 'a', 0.5), of(2, 'x', 'b', 0.5), of(3, 'y', 'a', 0.5)], suite);
    expect(gate(all, 'all')).toMatchObject({ verdict: 'passed', got: 3 });
    expect(gate(all, 'some')).toMatchObject({ verdict: 'failed', got: 2.25, trials: 3 });
    expect(gate(all, 'both')).toMatchObject({ verdict: 'failed', got: 1.5, trials: 2 });
    const unknown = gates([of(0, 'x', 'a', 0.5), of(1, 'x', 'a', null)], suite);
    for (const name of ['all', 'some', 'both']) {
      expect(gate(unknown, name)).toMatchObject({ verdict: 'inconclusive', got: null });
    }
  });

  test('a scorer of the suite’s own: its mean over cases, in a group too; null counts against its coverage', () => {
    const of = (i: number, value: number | null, tag: string) =>
      reduceCase(facts(id(i), 1, { own_scorers: ['brevity'], tags: [tag] }), [
        trial(id(i), 1, { scores: [score('task_completion', 1), score('brevity', value)] }),
      ]);
    const suite = {
      gates: [
        { name: 'brevity', metric: 'brevity', min: 0.75 },
        { name: 'short', metric: 'brevity', min: 0.75, tag: 'a' },
      ],
    };
    const all = gates([of(0, 1, 'a'), of(1, 0.25, 'b')], suite);
    expect(gate(all, 'brevity')).toMatchObject({ verdict: 'failed', got: 0.625, trials: 2, case_ids: ['c001'] });
    expect(gate(all, 'short')).toMatchObject({ verdict: 'passed', got: 1, trials: 1, trials_applicable: 1 });
    const unscored = gate(gates([of(0, 1, 'a'), of(1, null, 'b')], suite), 'brevity');
    expect(unscored).toMatchObject({ verdict: 'inconclusive', trials: 1, trials_applicable: 2 });
  });

  test('at most 20 cases, the worst first, and how many there are', () => {
    const found = gate(gates(cases(40, 30)), 'completion_rate');
    expect(found.case_ids).toHaveLength(20);
    expect(found.reason).toBe('30 cases behind it, the worst 20 listed');
  });

  test('the stability gate applies from 50 cases', () => {
    const stable = { gates: [{ name: 'stable', metric: 'stability_stdev', max: 0.1 }] };
    const twice = (n: number) =>
      Array.from({ length: n }, (_, i) =>
        reduceCase(facts(id(i), 2), [completed(id(i), 1, 1), completed(id(i), 2, i % 2 === 0 ? 0 : 1)]),
      );
    expect(gate(gates(twice(49), stable), 'stable')).toMatchObject({
      verdict: 'not_applicable',
      reason: 'needs 50 cases, has 49',
    });
    expect(gate(gates(twice(50), stable), 'stable').verdict).toBe('failed');
  });

  describe('regression', () => {
    const base: Comparison = {
      baseline_evaluation_id: 'ev-1',
      compared_cases: 20,
      stale: [],
      deltas: [],
      newly_failing: ['c001'],
      newly_passing: [],
      newly_flaky: [],
      changed_cases: [],
      new_cases: [],
      removed_cases: [],
    };
    const delta = (change: number, verdict: Comparison['deltas'][number]['verdict']): Comparison => ({
      ...base,
      deltas: [
        {
          metric: 'completion_rate',
          baseline: 1,
          value: 1 + change,
          delta: change,
          kind: 'difference',
          low: null,
          high: null,
          p: 1,
          p_adjusted: 1,
          smallest_detectable: null,
          pairs: 20,
          verdict,
        },
      ],
    });

    test('fails on a regressed metric, not on an alert or a drop that is not significant', () => {
      expect(gate(gates(cases(20), {}, delta(-0.2, 'regressed')), 'regression')).toMatchObject({
        verdict: 'failed',
        got: 0.2,
        wanted: 'drop <= 0.1',
        reason: 'completion_rate dropped',
        case_ids: ['c001'],
      });
      expect(gate(gates(cases(20), {}, delta(-0.08, 'alert')), 'regression').verdict).toBe('passed');
      expect(gate(gates(cases(20), {}, delta(-0.2, 'not_significant')), 'regression')).toMatchObject({
        verdict: 'passed',
        reason: 'not significant: completion_rate',
      });
    });

    test('inconclusive when nothing is comparable, when strict refuses a stale baseline, or under coverage', () => {
      expect(gate(gates(cases(20), {}, base), 'regression')).toMatchObject({
        verdict: 'inconclusive',
        reason: 'no metric has a value in both this evaluation and the baseline ev-1',
      });
      const stale = { ...delta(0, 'same'), stale: ['judge model changed: a → b'] };
      expect(gate(gates(cases(20), {}, stale), 'regression').verdict).toBe('passed');
      expect(gate(gates(cases(20), { regression: { ...REGRESSION, strict: true } }, stale), 'regression').verdict).toBe(
        'inconclusive',
      );
      const lost = [...cases(19), reduceCase(facts('c900', 1), [errored('c900', 1)])];
      expect(gate(gates(lost, {}, delta(-0.2, 'regressed')), 'regression').verdict).toBe('inconclusive');
    });

    test('where every case changed, such as by a new rubric, it says how to make the baseline comparable', () => {
      const reasonOf = (comparison: Comparison, strict = false): string =>
        gate(gates(cases(20), { regression: { ...REGRESSION, strict } }, comparison), 'regression').reason;
      const changed = { ...base, compared_cases: 0, changed_cases: ['c001', 'c002'] };
      expect(reasonOf(changed)).toBe(
        'all 2 cases both have changed since the baseline ev-1: score its trajectories with the cases as they are now ' +
          '(assay rescore ev-1) and pin the result (assay baseline set), or pin a new run',
      );
      expect(reasonOf({ ...base, compared_cases: 0 })).toBe(
        'none of these cases is in the baseline ev-1: pin a new one (assay baseline set)',
      );
      const stale = (...reasons: string[]): string => reasonOf({ ...delta(0, 'same'), stale: reasons }, true);
      expect(stale('judge model changed: a → b')).toContain('with the same judge (assay rescore ev-1) and pin');
      const other = stale('agent prompt changed: a → b', 'judge model changed: a → b');
      expect(other).not.toContain('rescore');
      expect(other).toContain('Compare without strict');
    });

    test('a metric that covers too little, such as steps where none were taken, is left out and does not block', () => {
      const result = createAggregator();
      const list = cases(20).map((one) => ({
        ...one,
        metrics: {
          ...one.metrics,
          step_efficiency: {
            mean: one.case_id < 'c010' ? 0.2 : null,
            stdev: null,
            min: null,
            max: null,
            scored: one.case_id < 'c010' ? 1 : 0,
            applicable: 1,
          },
        },
      }));
      for (const one of list) result.add(one);
      const [completion] = delta(0, 'same').deltas;
      const comparison = {
        ...base,
        deltas: [
          completion!,
          { ...completion!, metric: 'step_efficiency', delta: -0.5, verdict: 'regressed' as const },
        ],
      };
      const found = gate(evaluateGates(result.finish(), list, comparison, SUITE), 'regression');
      expect(found).toMatchObject({ verdict: 'passed', got: 0 });
    });

    test('can be switched off', () => {
      expect(
        gates(cases(20), { gates_off: ['regression'] }, delta(-0.2, 'regressed')).some(
          (one) => one.gate === 'regression',
        ),
      ).toBe(false);
    });
  });
});
