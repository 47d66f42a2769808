import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MAX_JSON_DEPTH, parseJson, parseJsonTree } from '../../../src/core/lossless-json.ts';

const value = (text: string): unknown => {
  const parsed = parseJson(text);
  if (!parsed.ok) throw new Error(`${parsed.error} at ${parsed.offset}`);
  return parsed.value;
};

describe('values', () => {
  test('property: reads what JSON.stringify writes', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (json) => {
        const text = JSON.stringify(json);
        // Doubles beyond 2^53 are written as integers that a double cannot be told apart from: those become bignums.
        fc.pre(!/\d{16}/.test(text));
        expect(value(text)).toEqual(JSON.parse(text));
        expect(parseJsonTree(text)).toMatchObject({ ok: true, value: JSON.parse(text) });
      }),
    );
  });

  test('property: accepts exactly what JSON.parse accepts', () => {
    const pieces = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"a"',
      '1',
      '-',
      '0',
      '1e5',
      '.5',
      'true',
      'nul',
      ' ',
      '"',
      '\\u12',
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 12 }), (parts) => {
        const text = parts.join('');
        let good = true;
        try {
          JSON.parse(text);
        } catch {
          good = false;
        }
        expect(parseJson(text).ok).toBe(good);
        expect(parseJsonTree(text).ok).toBe(good);
      }),
      { numRuns: 500 },
    );
  });

  test.each([
    ['9007199254740991', 9007199254740991],
    ['9007199254740993', { $bignum: '9007199254740993' }],
    ['-9007199254740993', { $bignum: '-9007199254740993' }],
    ['1e400', { $bignum: '1e400' }],
    ['-1e400', { $bignum: '-1e400' }],
    ['1e-400', { $bignum: '1e-400' }],
    ['0e400', 0],
    ['1E2', 100],
    ['0.1', 0.1],
    ['1.0', 1],
    ['123456789012345678901234567890', { $bignum: '123456789012345678901234567890' }],
  ])('T13: %s keeps its value', (text, expected) => {
    expect(value(text)).toEqual(expected);
    expect(value(`{"deep":[${text}]}`)).toEqual({ deep: [expected] });
  });

  test('T13: __proto__ and constructor are ordinary own keys', () => {
    for (const text of [
      '{"__proto__":{"polluted":1},"constructor":2}',
      '{"__proto__":{"polluted":1e0},"constructor":2}',
    ]) {
      const parsed = value(text) as Record<string, unknown>;
      expect(Object.keys(parsed)).toEqual(['__proto__', 'constructor']);
      expect(Object.getPrototypeOf(parsed)).toBe(Object.prototype);
      expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    }
  });

  test('D5: NUL and lone surrogates are kept as they are, in keys too', () => {
    expect(value('{"\\u0000k":"a\\ud800b","x":1e0}')).toEqual({ '\u0000k': 'a\ud800b', x: 1 });
    expect(value('"\ud800"')).toBe('\ud800');
  });
});

describe('what is refused', () => {
  test.each([
    ['{"a":1,}', 6, 'a comma before "}"'],
    ["{'a':1}", 1, 'expected a key in double quotes'],
    ['{"a":1}""', 7, 'expected the end'],
    ['', 0, 'expected a value, found the end'],
    ['[1 2]', 3, 'expected "," or "]"'],
    ['01', 0, 'not a number as JSON writes them'],
    ['NaN', 0, 'expected a value'],
    ['"a\nb"', 2, 'must be escaped'],
    ['"abc', 4, 'ends inside a string'],
    ['"\\x"', 1, 'not an escape'],
  ])('%j says where and why', (text, offset, message) => {
    const parsed = parseJson(text);
    expect(parsed).toMatchObject({ ok: false, offset });
    expect((parsed as { error: string }).error).toContain(message);
  });

  test('nesting deeper than the limit, without a crash', () => {
    const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
    expect(parseJson(nested(MAX_JSON_DEPTH)).ok).toBe(true);
    expect(parseJson(nested(MAX_JSON_DEPTH + 1))).toMatchObject({ ok: false, offset: MAX_JSON_DEPTH });
    expect(parseJson(nested(1_000_000)).ok).toBe(false);
  });

  test('duplicate keys, when asked to', () => {
    expect(value('{"a":1,"a":2}')).toEqual({ a: 2 });
    expect(parseJson('{"a":1,"a":2}', { duplicateKeys: 'refuse' })).toEqual({
      ok: false,
      error: 'duplicate key "a"',
      offset: 7,
    });
  });

  test('property: duplicate keys are found however they are written, and only where they are', () => {
    const pieces = fc.constantFrom('"a"', '"\\u0061"', '"b"', '"a\\":"', '":"', '""', ' ', '1', '{"a":1}', '[{"b":2}]');
    const member = fc.tuple(pieces, fc.constantFrom(':', ' :', '\n: '), pieces).map((parts) => parts.join(''));
    const objects = fc.array(member, { maxLength: 4 }).map((members) => `{${members.join(',')}}`);
    fc.assert(
      fc.property(
        fc.oneof(
          objects,
          fc.array(objects, { maxLength: 3 }).map((list) => `[${list.join(',')}]`),
        ),
        (text) => {
          // The reader that goes through the text key by key is the reference.
          const wanted = parseJsonTree(text, { duplicateKeys: 'refuse' });
          const got = parseJson(text, { duplicateKeys: 'refuse' });
          if (wanted.ok) expect(got).toEqual({ ok: true, value: wanted.value });
          else expect(got).toEqual(wanted);
        },
      ),
      { numRuns: 2000 },
    );
  });
});
