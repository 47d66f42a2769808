import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { getPath, parsePath, setPath } from '../../../src/agents/mock/mock-state.ts';

describe('parsePath', () => {
  test.each([
    ['a', ['a']],
    ['a.b[0].c', ['a', 'b', 0, 'c']],
    ['[1][2]', [1, 2]],
    ['订单.状态', ['订单', '状态']],
  ])('%s', (path, expected) => {
    expect(parsePath(path)).toEqual(expected);
  });

  test.each([
    '',
    '.',
    'a.',
    '.a',
    'a..b',
    'a[',
    'a[]',
    'a[x]',
    'a[-1]',
    'a]b',
    'a[99999999]',
    '__proto__.x',
    'a.constructor',
  ])('%j is no path', (path) => {
    expect(parsePath(path)).toBeNull();
    expect(getPath({ a: 1 }, path)).toBeUndefined();
    expect(() => setPath({}, path, 1)).toThrow(RangeError);
  });
});

test('what is in the way is replaced, gaps in lists are null', () => {
  expect(setPath({ a: 'text' }, 'a.b[2]', 1)).toEqual({ a: { b: [null, null, 1] } });
});

test('prototypes are neither read nor written', () => {
  expect(getPath({}, 'toString')).toBeUndefined();
  expect(() => setPath({}, '__proto__.polluted', true)).toThrow(RangeError);
  expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
});

const segment = fc.oneof(
  fc.string({ minLength: 1, maxLength: 5 }).filter((key) => !/[.[\]]/.test(key)),
  fc.nat({ max: 5 }),
);
const pathText = fc
  .array(segment, { minLength: 1, maxLength: 5 })
  .map((parts) =>
    parts.map((part, at) => (typeof part === 'number' ? `[${part}]` : at === 0 ? part : `.${part}`)).join(''),
  )
  .filter((path) => parsePath(path) !== null);

test('what was set is read back, and the state given is not changed', () => {
  fc.assert(
    fc.property(pathText, fc.jsonValue(), (path, value) => {
      const state = { kept: { x: 1 } };
      const next = setPath(state, path, value as never);
      expect(getPath(next, path)).toEqual(value);
      expect(state).toEqual({ kept: { x: 1 } });
    }),
  );
});
