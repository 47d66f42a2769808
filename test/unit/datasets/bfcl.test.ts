import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/core/json.ts';
import { caseFromBfcl, matcherOf, schemaOf } from '../../../src/datasets/shapes/bfcl.ts';

const tool = (name: string): JsonObject => ({
  name,
  description: 'd',
  parameters: { type: 'dict', properties: {} },
});

describe('accepted values', () => {
  test.each([
    [[10], 10],
    [['a', 'b'], { any_of: ['a', 'b'] }],
    [['units', ''], { any_of: ['units'], optional: true }],
    [['', 0], { any_of: [0], optional: true }],
    [[''], { equals: '', optional: true }],
    [['', null], { any_of: [null], optional: true }],
    [[[1, 2]], [1, 2]],
    [[['x'], ['y']], { any_of: [['x'], ['y']] }],
    [[{ min: [5], max: [8, 9] }], { min: 5, max: { any_of: [8, 9] } }],
    [[{ min: [5], note: ['', 'n'] }], { min: 5, note: { any_of: ['n'], optional: true } }],
    [[[{ field: ['age'], op: ['>', '<'] }]], [{ field: 'age', op: { any_of: ['>', '<'] } }]],
    // An object whose keys are all matcher keywords would be read as a matcher.
    [[{ date: ['today', 'now'] }], { any_of: [{ equals: { date: 'today' } }, { equals: { date: 'now' } }] }],
  ])('%j → %j', (accepted, expected) => {
    expect(matcherOf(accepted as never)).toEqual(expected);
  });
});

test('schemas: types renamed, optional dropped, key order kept, a property named type left alone', () => {
  const schema = {
    type: 'dict',
    properties: {
      a: { type: 'float', optional: true, description: 'x' },
      b: { type: 'tuple', items: { type: 'float' } },
      c: { type: 'any' },
      type: { type: 'string', enum: ['dict'] },
    },
    required: ['a'],
  };
  const converted = schemaOf(schema);
  expect(JSON.stringify(converted)).toBe(
    JSON.stringify({
      type: 'object',
      properties: {
        a: { type: 'number', description: 'x' },
        b: { type: 'array', items: { type: 'number' } },
        c: {},
        type: { type: 'string', enum: ['dict'] },
      },
      required: ['a'],
    }),
  );
});

test('one call is strict, several are unordered, names lose their dots on both sides', () => {
  const question = {
    id: 'parallel_3',
    question: [[{ role: 'user', content: 'q' }]],
    function: [tool('a.b'), tool('a_b')],
  };
  const { evalCase, renamed } = caseFromBfcl(question, [{ 'a.b': { x: [1] } }, { a_b: {} }]);
  expect(evalCase).toMatchObject({ id: 'parallel_3', input: 'q', category: 'parallel', tags: ['bfcl'] });
  expect(evalCase.expected).toEqual({
    calls: [
      { tool: 'a_b_2', args: { x: 1 } },
      { tool: 'a_b', args: {} },
    ],
    match: 'unordered',
  });
  expect(evalCase.tools?.map((one) => (typeof one === 'string' ? one : one.name))).toEqual(['a_b_2', 'a_b']);
  expect([...renamed]).toEqual([['a.b', 'a_b_2']]);
  expect(caseFromBfcl(question, [{ a_b: {} }]).evalCase.expected.match).toBe('strict');
});

test('irrelevance: no call is right', () => {
  const question = { id: 'irrelevance_0', question: [[{ role: 'user', content: 'q' }]], function: [tool('f')] };
  expect(caseFromBfcl(question, null).evalCase.expected).toEqual({ calls: [], match: 'strict' });
});

test.each([
  [{ id: 1 }, 'id: expected text'],
  [{ id: 'a', question: [] }, 'question: expected'],
  [{ id: 'a', question: [[], []], function: [] }, 'several turns'],
  [{ id: 'a', question: [[{ role: 'user', content: 'q' }]], function: [{}] }, 'function: expected'],
])('%j is refused', (question, message) => {
  expect(() => caseFromBfcl(question as never, null)).toThrow(message);
});

test('a ground truth that calls an unknown function is refused', () => {
  const question = { id: 'a', question: [[{ role: 'user', content: 'q' }]], function: [tool('f')] };
  expect(() => caseFromBfcl(question, [{ g: {} }])).toThrow('calls "g", which is not among the functions');
});
