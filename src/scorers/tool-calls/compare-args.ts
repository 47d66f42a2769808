import { isJsonObject } from '../../core/json.ts';
import type { Json, JsonObject } from '../../core/json.ts';
import type { ArgsMode } from '../../core/case.ts';
import { MAX_DEPTH, STRICT, equalScalars, isContainer, numberOf, ownValue } from '../values/equality.ts';
import type { EqualityOptions } from '../values/equality.ts';
import { isNumeric } from '../values/exact-number.ts';
import { compileLinear } from '../values/linear-regex.ts';
import { schemaViolations } from '../values/json-schema.ts';
import { preview } from '../values/preview.ts';
import { maximumMatching } from './bipartite.ts';
import { parseDate, sameDate } from './date-text.ts';
import { isMatcher } from '../../core/matcher-object.ts';
import { isOptional, matcherProblem } from './matcher.ts';

/** One place where made arguments are not the expected ones. */
export interface Mismatch {
  /** Path inside the arguments: `city`, `filter.tags[0]`; empty for the arguments as a whole. */
  key: string;
  wanted: string;
  got: string;
}

interface Context extends EqualityOptions {
  mode: ArgsMode;
  path: string;
  depth: number;
  /** Beside `{unordered: true}`: arrays are compared as sets with repetition. */
  unordered: boolean;
  /** Inside `{equals: …}`: matcher keywords are ordinary keys. */
  literal: boolean;
}

const MODIFIERS: ReadonlySet<string> = new Set(['ignore_case', 'coerce', 'optional', 'unordered']);

/** Worded only when read: most comparisons are made to count, and their differences are never shown. */
class LazyMismatch implements Mismatch {
  readonly key: string;
  readonly #words: string;
  readonly #wanted: Json | undefined;
  readonly #made: Json | undefined;

  constructor(key: string, words: string, wanted: Json | undefined, made: Json | undefined) {
    this.key = key;
    this.#words = words;
    this.#wanted = wanted;
    this.#made = made;
  }

  get wanted(): string {
    return this.#words + preview(this.#wanted);
  }

  get got(): string {
    return preview(this.#made);
  }
}

function mismatch(path: string, words: string, wanted: Json | undefined, made: Json | undefined): Mismatch {
  return new LazyMismatch(path, words, wanted, made);
}

/**
 * Compares made arguments with expected ones; null when they match. The mode reaches into nested objects and array elements:
 * `exact` same keys · `superset` the made ones may have more · `subset` the made ones may have fewer · `ignore` anything.
 */
export function compareArgs(wanted: JsonObject, made: JsonObject, mode: ArgsMode): Mismatch | null {
  if (mode === 'ignore') return null;
  return compareMembers(wanted, made, { ...STRICT, mode, path: '', depth: 0, unordered: false, literal: false });
}

/** Compares one value, matchers read at every depth. `made: undefined` = the argument is absent. */
export function compareValue(wanted: Json, made: Json | undefined, mode: ArgsMode, path: string): Mismatch | null {
  return compare(wanted, made, { ...STRICT, mode, path, depth: 0, unordered: false, literal: false });
}

function compare(wanted: Json, made: Json | undefined, context: Context): Mismatch | null {
  if (context.depth > MAX_DEPTH) {
    return { key: context.path, wanted: `at most ${MAX_DEPTH} levels`, got: 'deeper nesting' };
  }
  if (!context.literal && isMatcher(wanted)) return compareMatcher(wanted, made, context);
  if (made === undefined) return mismatch(context.path, '', wanted, made);
  if (!isContainer(wanted)) {
    return equalScalars(wanted, made, context) ? null : mismatch(context.path, '', wanted, made);
  }
  if (Array.isArray(wanted)) {
    return context.unordered ? compareUnordered(wanted, made, context) : compareItems(wanted, made, context);
  }
  if (!isContainer(made) || Array.isArray(made)) return mismatch(context.path, '', wanted, made);
  return compareMembers(wanted, made, context);
}

/** Most members are equal scalars: they need no context of their own. */
function sameScalar(wanted: Json, made: Json | undefined, context: Context): boolean {
  return made !== undefined && !isContainer(wanted) && equalScalars(wanted, made, context);
}

function compareItems(wanted: Json[], made: Json, context: Context): Mismatch | null {
  if (!Array.isArray(made) || made.length !== wanted.length) return mismatch(context.path, '', wanted, made);
  for (const [at, item] of wanted.entries()) {
    if (sameScalar(item, made[at], context)) continue;
    const inner = { ...context, path: `${context.path}[${at}]`, depth: context.depth + 1 };
    const found = compare(item, made[at], inner);
    if (found !== null) return found;
  }
  return null;
}

function compareMembers(wanted: JsonObject, made: JsonObject, context: Context): Mismatch | null {
  const pathOf = (key: string): string => (context.path === '' ? key : `${context.path}.${key}`);
  for (const key of Object.keys(wanted)) {
    const value = wanted[key] ?? null;
    const got = ownValue(made, key);
    if (sameScalar(value, got, context)) continue;
    if (got === undefined && (context.mode === 'subset' || (!context.literal && isOptional(value)))) continue;
    const found = compare(value, got, { ...context, path: pathOf(key), depth: context.depth + 1 });
    if (found !== null) return found;
  }
  if (context.mode === 'superset') return null;
  for (const key of Object.keys(made)) {
    if (made[key] !== undefined && !Object.hasOwn(wanted, key)) return mismatch(pathOf(key), '', undefined, made[key]);
  }
  return null;
}

function compareMatcher(matcher: JsonObject, made: Json | undefined, context: Context): Mismatch | null {
  const problem = matcherProblem(matcher);
  if (problem !== null) return { key: context.path, wanted: problem, got: preview(made) };
  if (made === undefined) return matcher['optional'] === true ? null : mismatch(context.path, '', matcher, made);
  const keys = Object.keys(matcher);
  const others = keys.filter((key) => !MODIFIERS.has(key));
  const inner: Context = {
    ...context,
    depth: context.depth + 1,
    ignoreCase: context.ignoreCase || isOn(matcher, 'ignore_case'),
    coerce: context.coerce || isOn(matcher, 'coerce'),
    unordered: context.unordered || matcher['unordered'] === true,
  };
  for (const key of keys) {
    const operand = matcher[key] ?? null;
    const found = compareOperand(key, operand, made, inner, others.length > 0);
    if (found !== null) return found;
  }
  return null;
}

/** `false` switches a modifier off; a value of its own (`{ignore_case: "paris"}`) switches it on. */
function isOn(matcher: JsonObject, modifier: string): boolean {
  return Object.hasOwn(matcher, modifier) && matcher[modifier] !== false;
}

/** @param modified the matcher has operands of its own, so `ignore_case: true` and `coerce: true` only modify them. */
function compareOperand(key: string, operand: Json, made: Json, context: Context, modified: boolean): Mismatch | null {
  const { path } = context;
  switch (key) {
    case 'any_of':
      return asList(operand).some((option) => compare(option, made, context) === null)
        ? null
        : mismatch(path, 'one of ', operand, made);
    case 'equals':
      return compare(operand, made, { ...context, literal: true });
    case 'ignore_case':
    case 'coerce':
      return modified && typeof operand === 'boolean' ? null : compare(operand, made, context);
    case 'number':
      return withinTolerance(operand, made, context) ? null : mismatch(path, 'number ', operand, made);
    case 'regex':
      return matchesRegex(operand, made, context) ? null : mismatch(path, 'a match of regex ', operand, made);
    case 'date':
      return matchesDate(operand, made) ? null : mismatch(path, 'date ', operand, made);
    case 'unordered':
      return Array.isArray(operand) ? compareUnordered(operand, made, context) : null;
    case 'schema': {
      const violation = schemaViolations(made, operand)[0];
      if (violation === undefined) return null;
      return { key: path, wanted: `schema ${preview(operand)}`, got: `${preview(made)} (${violation.message})` };
    }
    default:
      return null; // `any`, and `optional` with a value present: every value will do.
  }
}

function asList(operand: Json): Json[] {
  return Array.isArray(operand) ? operand : [];
}

function withinTolerance(operand: Json, made: Json, context: Context): boolean {
  if (isNumeric(operand)) return equalScalars(operand, made, { ...context, ignoreCase: false });
  if (!isJsonObject(operand)) return false;
  const wanted = numberOf(operand['value'] ?? null, false);
  const got = numberOf(made, context.coerce);
  if (wanted === null || got === null || !Number.isFinite(got) || !Number.isFinite(wanted)) return false;
  const abs = numberOf(operand['abs'] ?? 0, false) ?? 0;
  const rel = (numberOf(operand['rel'] ?? 0, false) ?? 0) * Math.abs(wanted);
  // |0.3 - 0.2| is a hair over 0.1 in doubles: a tolerance written as 0.1 means to include it.
  const slack = 1e-12 * Math.max(Math.abs(wanted), Math.abs(got));
  const tolerance = Math.max(abs, rel);
  return got === wanted || (tolerance > 0 && Math.abs(got - wanted) <= tolerance + slack);
}

function matchesRegex(operand: Json, made: Json, context: Context): boolean {
  const text = typeof made === 'string' ? made : context.coerce && !isContainer(made) ? preview(made) : null;
  const regex = typeof operand === 'string' ? compileLinear(operand, context.ignoreCase) : null;
  if (text === null || regex === null || typeof regex === 'string') return false;
  return regex.test(text) || regex.test(text.normalize('NFC'));
}

function matchesDate(operand: Json, made: Json): boolean {
  if (typeof operand === 'string') return matchesDate({ value: operand }, made);
  if (!isJsonObject(operand) || typeof made !== 'string') return false;
  const value = typeof operand['value'] === 'string' ? operand['value'] : '';
  const formats = asList(Array.isArray(operand['format']) ? operand['format'] : [operand['format'] ?? null]);
  const readable = formats.map((format) => (typeof format === 'string' ? format : null));
  const wanted =
    parseDate(value, null) ?? readable.map((format) => parseDate(value, format)).find((date) => date !== null);
  if (!wanted) return false;
  return readable.some((format) => {
    const got = parseDate(made, format);
    return got !== null && sameDate(wanted, got);
  });
}

function compareUnordered(wanted: Json[], made: Json, context: Context): Mismatch | null {
  const whole = (): Mismatch => mismatch(context.path, 'in any order ', wanted, made);
  if (!Array.isArray(made)) return whole();
  if (context.mode !== 'superset' && made.length > wanted.length) return whole();
  if (context.mode !== 'subset' && made.length < wanted.length) return whole();
  const matched = maximumMatching(
    wanted.length,
    made.length,
    (left, right) => compare(wanted[left] ?? null, made[right], { ...context, depth: context.depth + 1 }) === null,
  );
  const size = matched.filter((right) => right !== null).length;
  return size === Math.min(wanted.length, made.length) ? null : whole();
}
