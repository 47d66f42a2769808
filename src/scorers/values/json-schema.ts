import { isJsonObject } from '../../core/json.ts';
import type { Json, JsonObject } from '../../core/json.ts';
import { approximate, decimalFormOf } from './exact-number.ts';
import { MAX_DEPTH, equalityKey, isContainer, jsonEqual, ownValue } from './equality.ts';
import { compileLinear } from './linear-regex.ts';
import { preview } from './preview.ts';

/** Where a value breaks its schema. `path` is `$` for the whole value, then `.key` and `[index]`. */
export interface SchemaViolation {
  path: string;
  message: string;
}

/** Type words of other dialects that mean a JSON Schema type. */
const TYPE_ALIASES: ReadonlyMap<string, string> = new Map([
  ['dict', 'object'],
  ['float', 'number'],
  ['double', 'number'],
  ['tuple', 'array'],
  ['list', 'array'],
  ['bool', 'boolean'],
  ['int', 'integer'],
  ['str', 'string'],
]);
const MOST_VIOLATIONS = 20;

/**
 * Checks a value against a JSON Schema: type, enum, const, properties, required, additionalProperties, items, prefixItems,
 * minItems/maxItems, uniqueItems, minLength/maxLength, pattern (RE2), minimum/maximum and their exclusive forms, multipleOf,
 * anyOf/oneOf/allOf/not. Other keywords (`$ref`, `format`) are not checked. The type `any` accepts everything.
 * @returns at most twenty violations; none = valid.
 */
export function schemaViolations(value: Json, schema: Json): SchemaViolation[] {
  const found: SchemaViolation[] = [];
  check(value, schema, '$', 0, found);
  return found.slice(0, MOST_VIOLATIONS);
}

function check(value: Json, schema: Json, path: string, depth: number, found: SchemaViolation[]): void {
  if (found.length >= MOST_VIOLATIONS || schema === true) return;
  if (schema === false) {
    found.push({ path, message: 'no value is allowed here' });
    return;
  }
  if (!isJsonObject(schema)) return;
  if (depth > MAX_DEPTH) {
    found.push({ path, message: `nested deeper than ${MAX_DEPTH} levels` });
    return;
  }
  const typeProblem = wrongType(value, schema['type']);
  if (typeProblem !== null) {
    found.push({ path, message: typeProblem });
    return;
  }
  checkValueSet(value, schema, path, found);
  if (typeof value === 'string') checkString(value, schema, path, found);
  else if (Array.isArray(value)) checkArray(value, schema, path, depth, found);
  else if (isContainer(value)) checkObject(value, schema, path, depth, found);
  else checkNumber(value, schema, path, found);
  checkCombined(value, schema, path, depth, found);
}

function wrongType(value: Json, type: Json | undefined): string | null {
  const types = (Array.isArray(type) ? type : [type]).filter((name) => typeof name === 'string');
  if (types.length === 0 || types.some((name) => hasType(value, name))) return null;
  return `wanted ${types.join(' or ')}, got ${typeName(value)} ${preview(value)}`;
}

function hasType(value: Json, name: string): boolean {
  const type = TYPE_ALIASES.get(name) ?? name;
  if (type === 'any') return true;
  if (type === 'integer') return isInteger(value);
  return typeName(value) === type;
}

function isInteger(value: Json): boolean {
  const form = decimalFormOf(value);
  return form !== null && (form === '0' || !form.includes('e-'));
}

function typeName(value: Json): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (approximate(value) !== null) return 'number';
  return typeof value;
}

function checkValueSet(value: Json, schema: JsonObject, path: string, found: SchemaViolation[]): void {
  const options = schema['enum'];
  if (Array.isArray(options) && !options.some((option) => jsonEqual(option, value))) {
    found.push({ path, message: `wanted one of ${preview(options)}, got ${preview(value)}` });
  }
  const constant = ownValue(schema, 'const');
  if (constant !== undefined && !jsonEqual(constant, value)) {
    found.push({ path, message: `wanted ${preview(constant)}, got ${preview(value)}` });
  }
}

function checkString(value: string, schema: JsonObject, path: string, found: SchemaViolation[]): void {
  const { minLength, maxLength, pattern } = schema;
  const length = typeof minLength === 'number' || typeof maxLength === 'number' ? codePoints(value) : 0;
  if (typeof minLength === 'number' && length < minLength) {
    found.push({ path, message: `wanted at least ${minLength} characters, got ${length}` });
  }
  if (typeof maxLength === 'number' && length > maxLength) {
    found.push({ path, message: `wanted at most ${maxLength} characters, got ${length}` });
  }
  if (typeof pattern !== 'string') return;
  const regex = compileLinear(pattern, false);
  if (typeof regex === 'string') found.push({ path, message: `schema pattern ${preview(pattern)} is ${regex}` });
  else if (!regex.test(value)) found.push({ path, message: `wanted a match of ${pattern}, got ${preview(value)}` });
}

function checkNumber(value: Json, schema: JsonObject, path: string, found: SchemaViolation[]): void {
  const number = approximate(value);
  if (number === null) return;
  const bound = (name: string, holds: (limit: number) => boolean, words: string): void => {
    const limit = schema[name];
    if (typeof limit === 'number' && !holds(limit)) {
      found.push({ path, message: `wanted ${words} ${limit}, got ${preview(value)}` });
    }
  };
  bound('minimum', (limit) => number >= limit, 'at least');
  bound('maximum', (limit) => number <= limit, 'at most');
  bound('exclusiveMinimum', (limit) => number > limit, 'more than');
  bound('exclusiveMaximum', (limit) => number < limit, 'less than');
  // A quotient of decimals is rarely whole in doubles (0.3 / 0.1): one part in 10^9 is allowed.
  bound('multipleOf', (limit) => Math.abs(number / limit - Math.round(number / limit)) < 1e-9, 'a multiple of');
}

function checkArray(value: Json[], schema: JsonObject, path: string, depth: number, found: SchemaViolation[]): void {
  const { minItems, maxItems, uniqueItems, items, prefixItems } = schema;
  if (typeof minItems === 'number' && value.length < minItems) {
    found.push({ path, message: `wanted at least ${minItems} items, got ${value.length}` });
  }
  if (typeof maxItems === 'number' && value.length > maxItems) {
    found.push({ path, message: `wanted at most ${maxItems} items, got ${value.length}` });
  }
  if (uniqueItems === true && new Set(value.map((item, at) => equalityKey(item) ?? at)).size < value.length) {
    found.push({ path, message: 'wanted items that differ from each other' });
  }
  const first = Array.isArray(prefixItems) ? prefixItems : [];
  value.forEach((item, at) => {
    const schemaOfItem = first[at] ?? items;
    if (schemaOfItem !== undefined) check(item, schemaOfItem, `${path}[${at}]`, depth + 1, found);
  });
}

function checkObject(
  value: JsonObject,
  schema: JsonObject,
  path: string,
  depth: number,
  found: SchemaViolation[],
): void {
  const properties = isJsonObject(schema['properties']) ? schema['properties'] : {};
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  for (const key of required) {
    if (typeof key === 'string' && ownValue(value, key) === undefined) {
      found.push({ path: `${path}.${key}`, message: 'required, but absent' });
    }
  }
  const rest = schema['additionalProperties'];
  for (const key of Object.keys(value)) {
    const member = value[key] ?? null;
    const declared = ownValue(properties, key);
    if (declared !== undefined) check(member, declared, `${path}.${key}`, depth + 1, found);
    else if (rest === false) found.push({ path: `${path}.${key}`, message: 'not allowed by the schema' });
    else if (rest !== undefined) check(member, rest, `${path}.${key}`, depth + 1, found);
  }
}

function checkCombined(value: Json, schema: JsonObject, path: string, depth: number, found: SchemaViolation[]): void {
  const holds = (part: Json): boolean => {
    const inner: SchemaViolation[] = [];
    check(value, part, path, depth + 1, inner);
    return inner.length === 0;
  };
  const { allOf, anyOf, oneOf, not } = schema;
  if (Array.isArray(allOf)) for (const part of allOf) check(value, part, path, depth + 1, found);
  if (Array.isArray(anyOf) && !anyOf.some(holds)) {
    found.push({ path, message: `${preview(value)} fits none of the ${anyOf.length} allowed forms (anyOf)` });
  }
  if (Array.isArray(oneOf)) {
    const fitting = oneOf.filter(holds).length;
    if (fitting !== 1) {
      found.push({
        path,
        message: `${preview(value)} fits ${fitting} of ${oneOf.length} forms, wanted exactly one (oneOf)`,
      });
    }
  }
  if (not !== undefined && holds(not))
    found.push({ path, message: `${preview(value)} is of a form that is excluded (not)` });
}

/** JSON Schema counts characters as code points. */
function codePoints(text: string): number {
  let count = 0;
  for (const _character of text) count += 1;
  return count;
}
