import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { escapeText, unescapeText } from '../../../src/core/storable-text.ts';
import { fromJsonb, toJsonb } from '../../../src/db/escape.ts';

/** Texts rich in what Postgres refuses and in what looks like an escape. */
const nasty = fc
  .array(
    fc.oneof(
      fc.constantFrom('\u0000', '\u001a', '\ud800', '\udfff', '\u{1f600}', '\u001a0000', '\\u0000', '001a', 'a'),
      fc.string({ unit: 'binary' }),
      fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(''));
const REFUSED = /\u0000|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/; // oxlint-disable-line no-control-regex -- what is looked for
const json = fc.letrec((tie) => ({
  value: fc.oneof({ maxDepth: 4 }, nasty, fc.integer(), fc.boolean(), fc.constant(null), tie('list'), tie('object')),
  list: fc.array(tie('value'), { maxLength: 4 }),
  object: fc.dictionary(nasty, tie('value'), { maxKeys: 4 }),
})).value;

describe('D5: what Postgres refuses is escaped, reversibly', () => {
  test('D5: text: the round trip is exact and the stored form has nothing Postgres refuses', () => {
    fc.assert(
      fc.property(nasty, (text) => {
        const stored = escapeText(text);
        expect(REFUSED.test(stored)).toBe(false);
        expect(unescapeText(stored)).toBe(text);
      }),
      { numRuns: 2_000 },
    );
  });

  test('D5: different texts stay different', () => {
    fc.assert(
      fc.property(nasty, nasty, (a, b) => {
        expect(escapeText(a) === escapeText(b)).toBe(a === b);
      }),
      { numRuns: 2_000 },
    );
  });

  test('D5: JSON: values and keys at every depth', () => {
    fc.assert(
      fc.property(json, (value) => {
        const stored = toJsonb(value);
        expect(/\\u0000|\\ud[89a-f]/.test(stored.replaceAll('\\\\', ''))).toBe(false);
        expect(fromJsonb(stored)).toEqual(JSON.parse(JSON.stringify(value)));
      }),
      { numRuns: 1_000 },
    );
  });

  test('D5: a NUL, a lone surrogate and the mark itself, written out', () => {
    expect(escapeText('a\u0000b')).toBe('a\u001a0000b');
    expect(escapeText('\ud83d')).toBe('\u001ad83d');
    expect(escapeText('\u{1f600}')).toBe('\u{1f600}');
    expect(escapeText('\u001a0000')).toBe('\u001a001a0000');
    expect(toJsonb({ 'k\u0000': ['\u0000'] })).toBe('{"k\\u001a0000":["\\u001a0000"]}');
    expect(toJsonb(undefined)).toBe('null');
  });

  test('T13: a key __proto__ stays a key', () => {
    const value = JSON.parse('{"__proto__":{"polluted":"\\u0000"}}') as object;
    const back = fromJsonb(toJsonb(value)) as object;
    expect(Object.keys(back)).toEqual(['__proto__']);
    expect(Object.getPrototypeOf(back)).toBe(Object.prototype);
    expect(JSON.stringify(back)).toBe(JSON.stringify(value));
  });
});
