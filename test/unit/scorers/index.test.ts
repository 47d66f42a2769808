import { describe, expect, test } from 'vitest';
import type { EvalCase, Expected } from '../../../src/core/case.ts';
import { trialStatus } from '../../../src/core/trial.ts';
import { finaliseScores, judgeDimensionsFor, scoreTrial } from '../../../src/scorers/index.ts';
import type { ScoreDraft, ScoringSuite } from '../../../src/scorers/scorer.ts';
import type { MadeCall } from './fixtures.ts';
import { JUDGE, SUITE, evalCase, trajectory, wanted } from './fixtures.ts';

const deciding = (
  expected: Expected,
  made: MadeCall[] = [],
  suite: Partial<ScoringSuite> = {},
  fields: Partial<EvalCase> = {},
): string[] =>
  scoreTrial({
    evalCase: evalCase(expected, fields),
    trajectory: trajectory(made),
    suite: { ...SUITE, ...suite },
    costUsd: null,
  })
    .filter((score) => score.deciding)
    .map((score) => score.scorer);

const verdict = (scorer: string, value: number | null): ScoreDraft => ({
  scorer,
  dimension: scorer,
  value,
  passed: value === null ? null : value === 1,
  reason: 'the judge says so',
  details: null,
});

describe('what decides', () => {
  test('by default: outcome checks, must_call, must_not_call, a declared match, limits, safety', () => {
    const expected: Expected = {
      calls: wanted('a'),
      match: 'superset',
      must_call: ['a'],
      must_not_call: ['b'],
      answer_contains: ['x'],
      max_tokens: 1,
      calls_per_tool: { a: { max: 1 } },
      canaries: ['zz'],
    };
    expect(deciding(expected, ['a'], {}, { min_steps: 1 }).sort()).toEqual(
      [
        'answer_contains',
        'calls_per_tool',
        'canaries',
        'max_tokens',
        'must_call',
        'must_not_call',
        'tool_match',
      ].sort(),
    );
  });

  test('without a match mode only the weighted score is there, and nothing decides', () => {
    expect(deciding({ calls: wanted('a') }, ['a'])).toEqual([]);
    const scores = scoreTrial({
      evalCase: evalCase({ calls: wanted('a') }),
      trajectory: trajectory(['a']),
      suite: SUITE,
      costUsd: null,
    });
    expect(trialStatus(scores)).toBeNull();
    expect(scores.map(({ scorer }) => scorer)).not.toContain('tool_match');
  });

  test('decides names the deciding ones; safety stays', () => {
    const expected: Expected = { calls: wanted('a'), match: 'strict', must_not_call: ['b'], answer_contains: ['x'] };
    expect(deciding(expected, ['a'], { decides: ['tool_score'] }).sort()).toEqual(['must_not_call', 'tool_score']);
  });

  test("the case's own dimension decides", () => {
    expect(deciding({ calls: wanted('a') }, ['a'], {}, { dimension: 'tool_selection' })).toEqual(['tool_score']);
  });

  test('scorer names are unique within a trial', () => {
    const scores = scoreTrial({
      evalCase: evalCase(
        {
          calls: wanted('a'),
          match: 'strict',
          must_call: ['a'],
          answer_contains: ['x'],
          state: [{ path: 'a', value: 1 }],
        },
        { min_steps: 1 },
      ),
      trajectory: trajectory(['a']),
      suite: SUITE,
      costUsd: null,
    });
    const names = scores.map(({ scorer }) => scorer);
    expect(new Set(names).size).toBe(names.length);
    expect(names.filter((name) => name === 'task_completion')).toHaveLength(1);
  });
});

describe('judge dimensions', () => {
  const suite = { ...SUITE, judge: JUDGE };

  test('task_completion is judged only where no criterion decides it; answer_quality where there is a reference', () => {
    const needed = (expected: Expected, fields: Partial<EvalCase> = {}): string[] =>
      judgeDimensionsFor(evalCase(expected, fields), suite);
    expect(needed({ answer: 'ref' })).toEqual(['task_completion', 'answer_quality']);
    expect(needed({ criteria: 'asks back' })).toEqual(['task_completion', 'answer_quality']);
    expect(needed({ answer: 'ref', answer_contains: ['x'] })).toEqual(['answer_quality']);
    expect(needed({ answer_contains: ['x'] })).toEqual([]);
    expect(needed({}, { rubric: 'the city is named' })).toEqual(['task_completion']);
    expect(needed({ calls: wanted('a') })).toEqual([]);
    expect(judgeDimensionsFor(evalCase({ answer: 'ref' }), SUITE)).toEqual([]);
    const only = { judge: { ...JUDGE, dimensions: ['answer_quality' as const] } };
    expect(judgeDimensionsFor(evalCase({ answer: 'ref' }), only)).toEqual(['answer_quality']);
  });

  test('needed by the same rule that scores outcome checks', () => {
    const every: Expected[] = [
      { answer_contains: ['x'] },
      { answer_not_contains: ['x'] },
      { answer_matches: ['x'] },
      { answer_equals: 'x' },
      { answer_json: {} },
      { number: { value: 1 } },
      { final_status: 'COMPLETED' },
      { state: [{ path: 'a', value: 1 }] },
      { answer_contains: [] },
      {},
    ];
    for (const expected of every) {
      const needs = judgeDimensionsFor(evalCase({ ...expected, answer: 'ref' }), suite).includes('task_completion');
      const scores = scoreTrial({ evalCase: evalCase(expected), trajectory: trajectory(), suite, costUsd: null });
      expect(needs).toBe(!scores.some(({ scorer }) => scorer === 'task_completion'));
    }
  });

  const finalise = (
    expected: Expected,
    judged: ScoreDraft[],
    changes: Partial<ScoringSuite> = {},
  ): ReturnType<typeof finaliseScores> => {
    const input = {
      evalCase: evalCase(expected),
      trajectory: trajectory(),
      suite: { ...suite, ...changes },
      costUsd: null,
    };
    return finaliseScores({ deterministic: scoreTrial(input), judged, evalCase: input.evalCase, suite: input.suite });
  };

  test('a judged task_completion decides; answer_quality is informative unless named', () => {
    const judged = [verdict('task_completion', 1), verdict('answer_quality', 0.5)];
    const scores = finalise({ answer: 'ref' }, judged);
    expect(scores.map(({ scorer, deciding }) => [scorer, deciding])).toEqual([
      ['task_completion', true],
      ['answer_quality', false],
    ]);
    expect(trialStatus(scores)).toBe('passed');
    expect(trialStatus(finalise({ answer: 'ref' }, judged, { decides: ['answer_quality'] }))).toBe('failed');
  });

  test('a needed dimension the judge did not give is null and leaves the trial unscored', () => {
    const scores = finalise({ answer: 'ref' }, [verdict('answer_quality', 1)]);
    expect(scores.find(({ scorer }) => scorer === 'task_completion')).toMatchObject({
      value: null,
      passed: null,
      deciding: true,
    });
    expect(trialStatus(scores)).toBe('unscored');
    expect(trialStatus(finalise({ answer: 'ref' }, [verdict('task_completion', null)]))).toBe('unscored');
  });

  test('criteria keep their task_completion: the judge cannot replace it', () => {
    const scores = finalise({ answer_contains: ['nowhere'] }, [verdict('task_completion', 1)]);
    expect(scores.filter(({ scorer }) => scorer === 'task_completion')).toMatchObject([{ value: 0 }]);
    expect(trialStatus(scores)).toBe('failed');
  });

  test('a violation stays one', () => {
    const input = {
      evalCase: evalCase({ must_not_call: ['rm'], answer: 'r' }),
      trajectory: trajectory(['rm']),
      suite,
      costUsd: null,
    };
    const scores = finaliseScores({
      deterministic: scoreTrial(input),
      judged: [verdict('task_completion', 1)],
      evalCase: input.evalCase,
      suite,
    });
    expect(scores.find(({ scorer }) => scorer === 'must_not_call')).toMatchObject({ violation: true, deciding: true });
    expect(trialStatus(scores)).toBe('failed');
  });
});
