import { RE2JS } from 're2js';
import { nearest } from '../../core/did-you-mean.ts';
import type { Json, JsonObject } from '../../core/json.ts';
import { isJsonObject } from '../../core/json.ts';
import { BIGNUM_KEY } from '../../core/lossless-json.ts';
import { isMatcher, isMatcherKeyword, MATCHER_KEYWORDS } from '../../core/matcher-object.ts';
import type { Path } from '../readers/source.ts';
import { describe } from '../readers/source.ts';

export interface MatcherReport {
  error: (path: Path, message: string) => void;
  warning: (path: Path, message: string) => void;
}

/** Checks every matcher inside expected arguments, at any depth. */
export function checkMatchers(value: Json, path: Path, report: MatcherReport): void {
  if (Array.isArray(value)) value.forEach((item, i) => checkMatchers(item, [...path, i], report));
  else if (isMatcher(value)) checkMatcher(value, path, report);
  else if (isJsonObject(value)) {
    checkLiteral(value, path, report);
    for (const [key, inner] of Object.entries(value)) checkMatchers(inner, [...path, key], report);
  }
}

/** An object with a keyword beside a misspelt one was meant as a matcher. */
function checkLiteral(value: JsonObject, path: Path, report: MatcherReport): void {
  const keys = Object.keys(value);
  if (!keys.some(isMatcherKeyword)) return;
  for (const key of keys) {
    if (isMatcherKeyword(key)) continue;
    const meant = nearest(key, MATCHER_KEYWORDS);
    if (meant === null) continue;
    const advice = `write "${meant}" for a matcher, or {equals: …} around a literal`;
    report.warning([...path, key], `"${key}" is no matcher keyword, so the object is compared as a literal; ${advice}`);
  }
}

function checkMatcher(matcher: JsonObject, path: Path, report: MatcherReport): void {
  for (const [key, value] of Object.entries(matcher)) {
    const at = [...path, key];
    const problem = CHECKS[key]?.(value) ?? null;
    if (problem !== null) report.error(at, problem);
    else if (key === 'any_of' && Array.isArray(value)) {
      value.forEach((item, i) => checkMatchers(item, [...at, i], report));
    } else if (key === 'unordered' && Array.isArray(value)) checkMatchers(value, at, report);
  }
}

type Check = (value: Json) => string | null;

const bool: Check = (value) => (typeof value === 'boolean' ? null : `expected true or false, got ${describe(value)}`);
const anything: Check = () => null;

const CHECKS: Record<string, Check> = {
  any_of: (value) => {
    if (!Array.isArray(value)) return `expected a list of accepted values, got ${describe(value)}`;
    return value.length === 0 ? 'expected at least one accepted value' : null;
  },
  optional: bool,
  any: bool,
  // A flag beside another keyword, or the value itself.
  ignore_case: anything,
  coerce: anything,
  unordered: (value) =>
    typeof value === 'boolean' || Array.isArray(value) ? null : `expected a list or true, got ${describe(value)}`,
  equals: anything,
  number: checkNumber,
  regex: (value) => (typeof value === 'string' ? regexProblem(value) : `expected text, got ${describe(value)}`),
  date: checkDate,
  schema: (value) =>
    isJsonObject(value) || typeof value === 'boolean' ? null : `expected a JSON Schema object, got ${describe(value)}`,
};

function checkNumber(value: Json): string | null {
  if (isNumeric(value)) return null;
  if (!isJsonObject(value)) return `expected {value, abs?, rel?}, got ${describe(value)}`;
  for (const key of Object.keys(value)) {
    if (!['value', 'abs', 'rel'].includes(key)) return `unknown key "${key}"; known here: value, abs, rel`;
  }
  if (!isNumeric(value['value'])) return `value: expected a number, got ${describe(value['value'])}`;
  for (const key of ['abs', 'rel']) {
    const bound = value[key];
    if (bound !== undefined && (typeof bound !== 'number' || bound < 0)) {
      return `${key}: expected a number of at least 0, got ${describe(bound)}`;
    }
  }
  return null;
}

/** A number, or one too big for a double. */
function isNumeric(value: Json | undefined): boolean {
  return typeof value === 'number' || (isJsonObject(value) && typeof value[BIGNUM_KEY] === 'string');
}

function checkDate(value: Json): string | null {
  if (typeof value === 'string') return null;
  if (!isJsonObject(value)) return `expected {value, format?}, got ${describe(value)}`;
  for (const key of Object.keys(value)) {
    if (!['value', 'format'].includes(key)) return `unknown key "${key}"; known here: value, format`;
  }
  if (typeof value['value'] !== 'string') return `value: expected text, got ${describe(value['value'])}`;
  const format = value['format'];
  const formats = Array.isArray(format) ? format : [format ?? ''];
  return formats.every((one) => typeof one === 'string') ? null : `format: expected text, got ${describe(format)}`;
}

/** Why a regular expression cannot be used; null for a good one. RE2 syntax: linear time, no look-around, no back-references. */
export function regexProblem(pattern: string): string | null {
  try {
    RE2JS.compile(pattern);
    return null;
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error);
    return `not a regular expression (RE2 syntax: no look-around, no back-references): ${cause}`;
  }
}
