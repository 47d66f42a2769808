import { MAX_JSON_DEPTH } from '../../core/lossless-json.ts';
import { isJsonObject } from '../../core/json.ts';
import type { Json } from '../../core/json.ts';
import { approximate, decimalForm, decimalFormOf, equalNumbers, isNumeric } from './exact-number.ts';

/** Nesting beyond this many levels is not compared: such values are equal to nothing. A little over what is read from files. */
export const MAX_DEPTH = MAX_JSON_DEPTH + 8;

export interface EqualityOptions {
  /** Strings are compared without regard to case. */
  ignoreCase: boolean;
  /** `"7"` = 7 and `"true"` = true. */
  coerce: boolean;
}

export const STRICT: EqualityOptions = { ignoreCase: false, coerce: false };

/** The own property of an object; undefined when there is none. Safe for `__proto__` and `constructor`. */
export function ownValue(object: { [key: string]: Json }, key: string): Json | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

function sameText(a: string, b: string, ignoreCase: boolean): boolean {
  if (a === b) return true;
  const left = a.normalize('NFC');
  const right = b.normalize('NFC');
  return left === right || (ignoreCase && left.toLowerCase() === right.toLowerCase());
}

function coercedEqual(a: Json, b: Json): boolean {
  const [text, other] = typeof a === 'string' ? [a, b] : typeof b === 'string' ? [b, a] : [null, null];
  if (text === null) return false;
  const trimmed = text.trim();
  if (typeof other === 'boolean') return trimmed.toLowerCase() === String(other);
  if (other === null || !isNumeric(other)) return false;
  return decimalForm(trimmed) !== null && equalNumbers({ $bignum: trimmed.replace(/^\+/, '') }, other);
}

/** Equality of anything but arrays and plain objects: no coercion unless asked; strings after NFC; numbers by exact value. */
export function equalScalars(a: Json, b: Json, options: EqualityOptions): boolean {
  if (typeof a === 'string' && typeof b === 'string') return sameText(a, b, options.ignoreCase);
  if (isNumeric(a) && isNumeric(b)) return equalNumbers(a, b);
  if (a === b && typeof a !== 'object') return true;
  if (a === null && b === null) return true;
  return options.coerce && coercedEqual(a, b);
}

/** True for values that are compared member by member. */
export function isContainer(value: Json): value is Json[] | { [key: string]: Json } {
  return Array.isArray(value) || (isJsonObject(value) && !isNumeric(value));
}

/**
 * Equality of JSON by value: key order irrelevant, array order relevant, no coercion (`"7"` differs from 7, `[1]` from `{"0": 1}`),
 * 1 = 1.0, NaN equals nothing, strings after NFC, integers beyond 2^53 exactly.
 */
export function jsonEqual(a: Json, b: Json, depth = 0): boolean {
  if (!isContainer(a) || !isContainer(b)) return equalScalars(a, b, STRICT);
  if (depth > MAX_DEPTH || Array.isArray(a) !== Array.isArray(b)) return false;
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, at) => jsonEqual(item, b[at] ?? null, depth + 1));
  }
  const left = a as { [key: string]: Json };
  const right = b as { [key: string]: Json };
  const keys = Object.keys(left);
  if (keys.length !== Object.keys(right).length) return false;
  return keys.every((key) => {
    const other = ownValue(right, key);
    return other !== undefined && jsonEqual(left[key] ?? null, other, depth + 1);
  });
}

/** A text that two values share exactly when {@link jsonEqual} holds; null for a value that is equal to nothing. */
export function equalityKey(value: Json, depth = 0): string | null {
  if (typeof value === 'string') return JSON.stringify(value.normalize('NFC'));
  if (isNumeric(value)) return decimalFormOf(value);
  if (!isContainer(value)) return String(value);
  if (depth > MAX_DEPTH) return null;
  const entries = Array.isArray(value)
    ? value.map((item): [string, Json] => ['', item])
    : Object.keys(value)
        .sort()
        .map((key): [string, Json] => [JSON.stringify(key), value[key] ?? null]);
  const parts = entries.map(([key, member]) => [key, equalityKey(member, depth + 1)] as const);
  if (parts.some(([, part]) => part === null)) return null;
  const list = parts.map(([key, part]) => `${key}:${part}`).join();
  return Array.isArray(value) ? `[${list}]` : `{${list}}`;
}

/** A value as a double, reading numeric strings when `coerce` is on; null when it is not a number. */
export function numberOf(value: Json, coerce: boolean): number | null {
  const plain = approximate(value);
  if (plain !== null || !coerce || typeof value !== 'string') return plain;
  return decimalForm(value.trim()) === null ? null : Number(value.trim());
}
