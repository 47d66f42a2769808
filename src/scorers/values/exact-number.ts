import type { Json } from '../../core/json.ts';
import { isJsonObject } from '../../core/json.ts';

const NUMBER = /^([+-]?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/**
 * The value of a decimal text in a normal form (`-12e3`): equal numbers give equal text, whatever their length.
 * Null when the text is not a JSON number.
 */
export function decimalForm(text: string): string | null {
  const parts = NUMBER.exec(text);
  if (parts === null) return null;
  const fraction = parts[3] ?? '';
  const digits = (parts[2] ?? '') + fraction;
  let first = 0;
  while (first < digits.length && digits[first] === '0') first += 1;
  if (first === digits.length) return '0';
  let end = digits.length;
  while (digits[end - 1] === '0') end -= 1;
  const exponent = BigInt(parts[4] ?? '0') - BigInt(fraction.length) + BigInt(digits.length - end);
  return `${parts[1] === '-' ? '-' : ''}${digits.slice(first, end)}e${exponent}`;
}

/** The text of a `{"$bignum": "…"}` object, the form numbers take that a double cannot hold; null for anything else. */
export function bignumText(value: Json): string | null {
  if (!isJsonObject(value) || !Object.hasOwn(value, '$bignum')) return null;
  const text = value['$bignum'];
  return typeof text === 'string' && Object.keys(value).length === 1 && NUMBER.test(text) ? text : null;
}

/** True for a plain number and for a big one. */
export function isNumeric(value: Json): boolean {
  return typeof value === 'number' || bignumText(value) !== null;
}

/** Normal form of a plain or big number; null for anything else, and for NaN and infinities. */
export function decimalFormOf(value: Json): string | null {
  if (typeof value !== 'number') {
    const text = bignumText(value);
    return text === null ? null : decimalForm(text);
  }
  if (!Number.isFinite(value)) return null;
  return decimalForm(Number.isInteger(value) ? BigInt(value).toString() : String(value));
}

/** Numeric equality without rounding: 1 = 1.0, -0 = 0, NaN equals nothing, 9007199254740993 differs from 9007199254740992. */
export function equalNumbers(a: Json, b: Json): boolean {
  if (typeof a === 'number' && typeof b === 'number') return a === b;
  const form = decimalFormOf(a);
  return form !== null && form === decimalFormOf(b);
}

/** A double near the value; null when it is not a number. For tolerances, where exactness is not asked. */
export function approximate(value: Json): number | null {
  if (typeof value === 'number') return value;
  const text = bignumText(value);
  return text === null ? null : Number(text);
}
