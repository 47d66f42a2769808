import { describe, expect, test } from 'vitest';
import type { EvalCase } from '../../../src/core/case.ts';
import { unscoredDimensions } from '../../../src/datasets/checks/check-dimensions.ts';
import { JUDGE } from '../scorers/fixtures.ts';

const about = (id: string, dimension: string, fields: Partial<EvalCase> = {}): EvalCase => ({
  id,
  input: 'x',
  dimension,
  expected: { criteria: 'the city is named' },
  ...fields,
});

describe('cases whose own dimension has no score', () => {
  test('one line a dimension that the suite does not list, or without a judge', () => {
    const cases = ['a', 'b', 'c'].map((id) => about(id, 'answer_completeness'));
    const line = 'case "a" and 2 more: dimension answer_completeness, which nothing scores; add it to judge.dimensions';
    expect(unscoredDimensions(cases, JUDGE)).toEqual([line]);
    expect(unscoredDimensions(cases, null)).toEqual([line]);
    expect(unscoredDimensions(cases, { ...JUDGE, dimensions: ['answer_completeness'] })).toEqual([]);
  });

  test('a listed one that the case gives nothing to judge by', () => {
    const bare = about('a', 'trajectory', { expected: {} });
    expect(unscoredDimensions([bare], { ...JUDGE, dimensions: ['trajectory'] })).toEqual([
      'case "a": dimension trajectory, which has nothing to be judged by; add expected.criteria',
    ]);
  });

  test('nothing of dimensions with a deterministic scorer, or that are names of the user', () => {
    const cases = ['tool_selection', 'prompt_assembly', 'subagent_isolation', 'rag_recall', 'speed'].map((name) =>
      about(name, name),
    );
    expect(unscoredDimensions(cases, JUDGE)).toEqual([]);
  });
});
