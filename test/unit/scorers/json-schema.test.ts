import { expect, test } from 'vitest';
import type { Json } from '../../../src/core/json.ts';
import { schemaViolations } from '../../../src/scorers/values/json-schema.ts';

test.each<[string, Json, Json[], Json[]]>([
  ['type', { type: 'string' }, ['a'], [1, null, [], {}]],
  ['type list', { type: ['string', 'null'] }, ['a', null], [1]],
  ['integer', { type: 'integer' }, [1, 1.0, -3, { $bignum: '9007199254740993' }], [1.5, '1', true]],
  ['number', { type: 'number' }, [1, 1.5, { $bignum: '1e400' }], ['1', null]],
  ['boolean', { type: 'boolean' }, [true], [1, 'true']],
  ['other dialects', { type: 'dict' }, [{}], [[]]],
  ['float', { type: 'float' }, [1, 1.5], ['1']],
  ['any', { type: 'any' }, [1, null, {}], []],
  ['enum', { enum: ['a', 1, null] }, ['a', 1, null], ['b', '1']],
  ['const', { const: { a: 1 } }, [{ a: 1 }], [{ a: 2 }, {}]],
  ['const null', { const: null }, [null], [0]],
  ['bounds', { minimum: 1, maximum: 3 }, [1, 3], [0, 4]],
  ['exclusive bounds', { exclusiveMinimum: 1, exclusiveMaximum: 3 }, [2], [1, 3]],
  ['multipleOf', { multipleOf: 0.1 }, [0.3, 1], [0.35]],
  ['length', { minLength: 2, maxLength: 3 }, ['ab', '😀😀'], ['a', 'abcd']],
  ['pattern', { pattern: '^a+$' }, ['aa'], ['ab']],
  ['items', { items: { type: 'integer' }, minItems: 1, maxItems: 2 }, [[1], [1, 2]], [[], ['a'], [1, 2, 3]]],
  ['prefixItems', { prefixItems: [{ type: 'string' }], items: { type: 'integer' } }, [['a', 1]], [[1], ['a', 'b']]],
  ['uniqueItems', { uniqueItems: true }, [[1, 2]], [[{ a: 1 }, { a: 1 }]]],
  ['required', { required: ['a'] }, [{ a: null }], [{}, { b: 1 }]],
  ['properties', { properties: { a: { type: 'string' } } }, [{ a: 'x' }, { b: 1 }, {}], [{ a: 1 }]],
  ['additionalProperties false', { properties: { a: {} }, additionalProperties: false }, [{ a: 1 }, {}], [{ b: 1 }]],
  ['additionalProperties schema', { additionalProperties: { type: 'integer' } }, [{ b: 1 }], [{ b: 'x' }]],
  ['anyOf', { anyOf: [{ type: 'string' }, { minimum: 5 }] }, ['a', 6], [4]],
  ['oneOf', { oneOf: [{ minimum: 1 }, { minimum: 5 }] }, [2], [0, 6]],
  ['allOf', { allOf: [{ minimum: 1 }, { maximum: 3 }] }, [2], [0, 4]],
  ['not', { not: { type: 'string' } }, [1], ['a']],
  ['false', false, [], [1]],
  ['true', true, [1, null], []],
])('%s', (_name, schema, valid, invalid) => {
  for (const value of valid) expect([value, schemaViolations(value, schema)]).toEqual([value, []]);
  for (const value of invalid) expect([value, schemaViolations(value, schema).length]).toEqual([value, 1]);
});

test('a violation names its place', () => {
  const schema = { properties: { list: { items: { properties: { id: { type: 'integer' } }, required: ['id'] } } } };
  expect(schemaViolations({ list: [{ id: 1 }, { id: 'x' }, {}] }, schema)).toEqual([
    { path: '$.list[1].id', message: 'wanted integer, got string "x"' },
    { path: '$.list[2].id', message: 'required, but absent' },
  ]);
});

test('uniqueItems: items are compared by value, in linear time', () => {
  const unique = (items: Json[]): boolean => schemaViolations(items, { uniqueItems: true }).length === 0;
  expect(
    unique([
      { a: 1, b: [2] },
      { b: [2], a: 1 },
    ]),
  ).toBe(false);
  expect(unique([1, { $bignum: '1.0' }])).toBe(false);
  expect(unique([1, '1', true, null, [1], { a: 1 }, { a: '1' }, ['1'], '[1]'])).toBe(true);
  expect(unique(['\u00e9', 'e\u0301'])).toBe(false);
  expect(unique([Number.NaN, Number.NaN])).toBe(true);
  const started = performance.now();
  expect(unique(Array.from({ length: 40_000 }, (_, at) => at))).toBe(true);
  expect(performance.now() - started).toBeLessThan(5_000);
});

test('prototype keys are ordinary', () => {
  const value = JSON.parse('{"__proto__": 1}') as Json;
  expect(schemaViolations({}, { required: ['constructor'] })).toHaveLength(1);
  expect(schemaViolations(value, { properties: {}, additionalProperties: false })).toHaveLength(1);
});
