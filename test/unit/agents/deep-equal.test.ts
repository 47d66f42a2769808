import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { deepEqual } from '../../../src/core/deep-equal.ts';
import type { Json } from '../../../src/core/json.ts';

const big = (text: string): Json => ({ $bignum: text });

test.each<[string, Json, Json, boolean]>([
  ['key order', { a: 1, b: 2 }, { b: 2, a: 1 }, true],
  ['array order', [1, 2], [2, 1], false],
  ['number and text', 7, '7', false],
  ['true and 1', true, 1, false],
  ['list and object', [1], { 0: 1 }, false],
  ['1 and 1.0', 1, 1.0, true],
  ['-0 and 0', -0, 0, true],
  ['NaN', Number.NaN, Number.NaN, false],
  ['NFC and NFD', 'é', 'e\u0301', true],
  ['null and absence', { a: null }, {}, false],
  ['a key on one side only', { a: 1 }, { b: 1 }, false],
  ['a prototype key', JSON.parse('{"__proto__":1}') as Json, { a: 1 }, false],
  ['big integers one apart', big('9007199254740993'), big('9007199254740992'), false],
  ['a big number written in two ways', big('1e400'), big('10.0e399'), true],
  ['signs of a big number', big('-1e400'), big('1e400'), false],
])('T15: %s', (_name, a, b, expected) => {
  expect(deepEqual(a, b)).toBe(expected);
  expect(deepEqual(b, a)).toBe(expected);
});

test('equal to its copy, whatever the value and the order of its keys', () => {
  const shuffled = (value: Json): Json => {
    if (Array.isArray(value)) return value.map(shuffled);
    if (typeof value !== 'object' || value === null) return value;
    const entries = Object.entries(value).map(([key, item]) => [key, shuffled(item)] as const);
    return Object.fromEntries(entries.reverse());
  };
  fc.assert(fc.property(fc.jsonValue(), (value) => deepEqual(value as Json, shuffled(value as Json))));
});

test('unequal once a leaf differs', () => {
  fc.assert(fc.property(fc.jsonValue(), (value) => !deepEqual({ a: value as Json }, { a: [value as Json] })));
});
