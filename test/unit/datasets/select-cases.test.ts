import { describe, expect, test } from 'vitest';
import type { EvalCase } from '../../../src/core/case.ts';
import { UserError } from '../../../src/core/errors.ts';
import { parseFilter, selectCases } from '../../../src/datasets/select-cases.ts';

const CASES: EvalCase[] = [
  { id: 'a', input: 'x', expected: {}, category: 'refund', tags: ['safety', 'smoke'], difficulty: 'EASY' },
  { id: 'b', input: 'x', expected: {}, category: 'status', tags: ['smoke'], difficulty: 'HARD' },
  { id: 'c', input: 'x', expected: {}, category: 'refund', dimension: 'rag_recall' },
];
const ids = (filter: Parameters<typeof selectCases>[1]): string[] => selectCases(CASES, filter).map((one) => one.id);

function caught(work: () => unknown): UserError {
  try {
    work();
  } catch (error) {
    if (error instanceof UserError) return error;
    throw error;
  }
  throw new Error('expected a UserError');
}

test('values of a key are alternatives, keys must all hold, limit comes last', () => {
  expect(ids({})).toEqual(['a', 'b', 'c']);
  expect(ids({ category: ['refund'] })).toEqual(['a', 'c']);
  expect(ids({ tag: ['smoke'], category: ['refund'] })).toEqual(['a']);
  expect(ids({ id: ['b', 'c'] })).toEqual(['b', 'c']);
  expect(ids({ difficulty: ['HARD'] })).toEqual(['b']);
  expect(ids({ dimension: ['rag_recall'] })).toEqual(['c']);
  expect(ids({ category: ['refund'], limit: 1 })).toEqual(['a']);
});

describe('R4: a filter that selects nothing', () => {
  test('exits with 2 and lists what there is', () => {
    const error = caught(() => selectCases(CASES, { category: ['refnd'], tag: ['nope'] }));
    expect(error.exitCode).toBe(2);
    expect(error.message).toBe('The filter tag=nope,category=refnd selects none of the 3 cases');
    expect(error.hint).toContain('tag: safety, smoke');
    expect(error.hint).toContain('category: refund, status (did you mean "refund"?)');
  });

  test('each value exists, but not together', () => {
    expect(caught(() => selectCases(CASES, { tag: ['safety'], category: ['status'] })).exitCode).toBe(2);
  });

  test('a limit of 0 is refused', () => {
    expect(caught(() => selectCases(CASES, { limit: 0 })).message).toContain('at least 1');
  });
});

test('parseFilter', () => {
  expect(parseFilter(['tag=safety,category=refund', 'tag=smoke'])).toEqual({
    tag: ['safety', 'smoke'],
    category: ['refund'],
  });
  expect(parseFilter(['id=a|b'])).toEqual({ id: ['a', 'b'] });
  expect(parseFilter(['id=a\\,b\\|c=d'])).toEqual({ id: ['a,b|c=d'] });
  expect(caught(() => parseFilter(['catgory=x'])).message).toContain('(did you mean "category"?)');
  expect(caught(() => parseFilter(['safety'])).message).toContain('expected key=value');
});
