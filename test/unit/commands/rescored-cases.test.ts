import { expect, test } from 'vitest';
import { rescoredCases, type SourceCase } from '../../../src/commands/results/rescored-cases.ts';
import type { EvalCase } from '../../../src/core/case.ts';

const one = (id: string, more: Partial<EvalCase> = {}): EvalCase => ({
  id,
  input: `about ${id}`,
  expected: {},
  ...more,
});
const stored = (evalCase: EvalCase, trials = 1): SourceCase => ({ evalCase, contentHash: evalCase.id, trials });

test('what a case is held against may change; it keeps the trials of the source', () => {
  const now = one('a', { rubric: 'new', expected: { answer: 'new' }, tags: ['t'], trials: 9, min_steps: 2 });
  const found = rescoredCases([stored(one('a'), 3)], [now]);
  expect(found).toEqual({ cases: [{ ...now, trials: 3 }], changed: [], added: [], removed: [] });
});

test.each<[string, Partial<EvalCase>]>([
  ['question', { input: 'something else' }],
  ['messages', { messages: [{ role: 'user', content: 'x' }] }],
  ['turns', { turns: ['x'] }],
  ['tools', { tools: ['x'] }],
  ['context', { context: { documents: [{ id: 'd', text: 'x' }] } }],
  ['mock', { mock: { state: { x: 1 } } }],
])('a changed %s: the trajectory answers another case', (_, change) => {
  expect(rescoredCases([stored(one('a'))], [one('a', change)])).toMatchObject({ cases: [], changed: ['a'] });
});

test('cases of one side only are named', () => {
  const found = rescoredCases([stored(one('a')), stored(one('gone'))], [one('a'), one('new')]);
  expect(found).toMatchObject({ added: ['new'], removed: ['gone'] });
  expect(found.cases.map(({ id }) => id)).toEqual(['a']);
});
