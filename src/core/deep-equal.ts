import { isJsonObject, type Json } from './json.ts';

/**
 * Equality by value, as docs/scoring.md defines it: key order is irrelevant, array order is not, nothing is coerced
 * (`"7"` is not `7`, `true` is not `1`, `[1]` is not `{"0": 1}`), `1` equals `1.0`, `-0` equals `0`, NaN equals nothing,
 * strings are compared after NFC. Numbers too big for a double (`{"$bignum": "…"}`) are compared digit by digit.
 */
export function deepEqual(a: Json, b: Json): boolean {
  if (typeof a === 'string' && typeof b === 'string') return a.normalize('NFC') === b.normalize('NFC');
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, index) => deepEqual(item, b[index] as Json));
  }
  if (isJsonObject(a) && isJsonObject(b)) {
    const bigA = bigNumber(a);
    const bigB = bigNumber(b);
    if (bigA !== null && bigB !== null) return bigA === bigB;
    const keys = Object.keys(a);
    return (
      keys.length === Object.keys(b).length &&
      keys.every((key) => Object.hasOwn(b, key) && deepEqual(a[key] as Json, b[key] as Json))
    );
  }
  return a === b;
}

/** Canonical text of a `{"$bignum": "…"}` object: equal numbers give the same text. Null for anything else. */
function bigNumber(value: { [key: string]: Json }): string | null {
  const text = value['$bignum'];
  if (typeof text !== 'string' || Object.keys(value).length !== 1) return null;
  const match = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text);
  if (match === null) return null;
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match;
  const digits = (whole + fraction).replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  if (significant === '') return '0';
  const scale = BigInt(exponent) - BigInt(fraction.length) + BigInt(digits.length - significant.length);
  return `${sign}${significant}e${scale}`;
}
