import type { ArgsMode, ToolDefinition } from '../../core/case.ts';
import { isJsonObject } from '../../core/json.ts';
import type { Json, JsonObject } from '../../core/json.ts';
import { jsonEqual, ownValue } from '../values/equality.ts';
import { preview } from '../values/preview.ts';
import type { CallComparer } from './call-comparer.ts';
import type { Mismatch } from './compare-args.ts';
import { isMatcher } from '../../core/matcher-object.ts';

/** Python type words, as the official checker compares them. */
type PythonType = 'str' | 'int' | 'float' | 'bool' | 'list' | 'dict' | 'NoneType';

const DECLARED: ReadonlyMap<string, PythonType> = new Map([
  ['string', 'str'],
  ['integer', 'int'],
  ['float', 'float'],
  ['number', 'float'],
  ['boolean', 'bool'],
  ['array', 'list'],
  ['tuple', 'list'],
  ['dict', 'dict'],
  ['object', 'dict'],
  ['any', 'str'],
]);
/** An accepted value that stands for "may be left out". */
const LEFT_OUT = '';

/**
 * Compares values as the AST checker of the Berkeley Function-Calling Leaderboard does (gorilla, bfcl_eval/eval_checker,
 * Python rules): types by the tool's schema, an integer accepted for a declared float but not the reverse; strings without
 * regard to case, spaces and `, . / - _ * ^`, single quotes as double ones; required parameters of the schema must be there.
 * Accepted values are written `{any_of: […], optional: true}`. Tool names are equal when they differ in `.` and `_` only,
 * because endpoints refuse dots in names. Not reproduced: its greedy matching of parallel calls, and 1.0 against 1, which
 * JSON does not tell apart.
 */
export function bfclComparer(tools: ReadonlyMap<string, ToolDefinition>): CallComparer {
  const nameOf = (tool: string): string => tool.replaceAll('.', '_');
  const schemas = new Map([...tools].map(([name, tool]) => [nameOf(name), tool.parameters ?? {}]));
  const schemaOf = (tool: string): JsonObject => schemas.get(nameOf(tool)) ?? {};
  return {
    nameOf,
    args: (tool, wanted, made, mode) => compareArguments(schemaOf(tool), wanted, made, mode),
    argument: (tool, key, wanted, made) => compareArgument(schemaOf(tool), key, wanted, made),
  };
}

function compareArguments(schema: JsonObject, wanted: JsonObject, made: JsonObject, mode: ArgsMode): Mismatch | null {
  if (mode === 'ignore') return null;
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  for (const key of required) {
    if (typeof key === 'string' && mode !== 'subset' && ownValue(made, key) === undefined) {
      return { key, wanted: preview(ownValue(wanted, key) ?? 'a value: the tool requires it'), got: '(absent)' };
    }
  }
  for (const key of Object.keys(made)) {
    const declared = propertyOf(schema, key) !== undefined || !isJsonObject(schema['properties']);
    if (declared && Object.hasOwn(wanted, key)) {
      const found = compareArgument(schema, key, wanted, made);
      if (found !== null) return found;
    } else if (mode !== 'superset') return { key, wanted: '(absent)', got: preview(made[key]) };
  }
  if (mode === 'subset') return null;
  for (const key of Object.keys(wanted)) {
    const found = ownValue(made, key) === undefined ? compareArgument(schema, key, wanted, made) : null;
    if (found !== null) return found;
  }
  return null;
}

function propertyOf(schema: JsonObject, key: string): JsonObject | undefined {
  const properties = schema['properties'];
  const found = isJsonObject(properties) ? ownValue(properties, key) : undefined;
  return isJsonObject(found) ? found : undefined;
}

function compareArgument(schema: JsonObject, key: string, wanted: JsonObject, made: JsonObject): Mismatch | null {
  const accepted = acceptedValues(wanted[key] ?? null);
  const got = ownValue(made, key);
  const holds = got === undefined ? accepted.includes(LEFT_OUT) : accepts(propertyOf(schema, key), accepted, got);
  return holds ? null : { key, wanted: preview(wanted[key]), got: preview(got) };
}

/** The accepted values of an argument, `""` among them when it may be left out. */
function acceptedValues(wanted: Json): Json[] {
  if (!isMatcher(wanted)) return [wanted];
  const options = Array.isArray(wanted['any_of']) ? wanted['any_of'].flatMap(acceptedValues) : [];
  const literal = Object.hasOwn(wanted, 'equals') ? [wanted['equals'] ?? null] : [];
  return [...options, ...literal, ...(wanted['optional'] === true ? [LEFT_OUT] : [])];
}

function pythonType(value: Json): PythonType {
  if (value === null) return 'NoneType';
  if (typeof value === 'string') return 'str';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int' : 'float';
  return Array.isArray(value) ? 'list' : 'dict';
}

function typeOfAccepted(accepted: Json[]): PythonType | null {
  const first = accepted.find((value) => value !== LEFT_OUT);
  return first === undefined ? null : pythonType(first);
}

function declaredType(schema: JsonObject | undefined): PythonType | null {
  const type = schema?.['type'];
  return typeof type === 'string' ? (DECLARED.get(type.toLowerCase()) ?? null) : null;
}

function accepts(property: JsonObject | undefined, accepted: Json[], got: Json): boolean {
  const acceptedType = typeOfAccepted(accepted);
  const declared = declaredType(property) ?? acceptedType ?? 'str';
  const items = isJsonObject(property?.['items']) ? property['items'] : undefined;
  const inner = declared === 'list' ? (declaredType(items) ?? null) : null;
  const made = declared === 'float' && pythonType(got) === 'int' ? 'float' : pythonType(got);
  const typesHold = made === declared && nestedTypesHold(inner, accepted, got);
  // A value of the accepted values' own type passes whatever the schema says; it is then compared as it stands.
  if (!typesHold && made !== acceptedType) return false;
  const asDeclared = typesHold && (acceptedType === null || acceptedType === declared);
  if (asDeclared && declared === 'dict') return dictAccepted(accepted, got);
  if (asDeclared && declared === 'list') {
    return inner === 'dict' ? listOfDictsAccepted(accepted, got) : accepted.some((value) => sameList(value, got));
  }
  if (asDeclared && declared === 'str') return stringAccepted(accepted, got);
  return accepted.some((value) => jsonEqual(value, got));
}

/** One level deep, as the official checker looks: every element of the declared type, or of the accepted elements' own. */
function nestedTypesHold(inner: PythonType | null, accepted: Json[], got: Json): boolean {
  if (inner === null || !Array.isArray(got)) return true;
  return accepted.some((value) => {
    if (!Array.isArray(value)) return true;
    const own = typeOfAccepted(value);
    return got.every((item) => pythonType(item) === inner || pythonType(item) === own || looseFloat(inner, own, item));
  });
}

/** 2.0 and 2 are one number in JSON: where floats are declared and accepted, a whole number may be one of them. */
function looseFloat(inner: PythonType, own: PythonType | null, item: Json): boolean {
  return (inner === 'float' || own === 'float') && pythonType(item) === 'int';
}

function standardised(text: string): string {
  return text
    .replace(/[ ,./\-_*^]/g, '')
    .toLowerCase()
    .replaceAll("'", '"');
}

function standard(value: Json): Json {
  return typeof value === 'string' ? standardised(value) : value;
}

function stringAccepted(accepted: Json[], got: Json): boolean {
  return accepted.some((value) => typeof value === 'string' && standard(value) === standard(got));
}

function sameList(wanted: Json, got: Json): boolean {
  if (!Array.isArray(wanted) || !Array.isArray(got) || wanted.length !== got.length) return false;
  return wanted.every((item, at) => jsonEqual(standard(item), standard(got[at] ?? null)));
}

function dictAccepted(accepted: Json[], got: Json): boolean {
  return isJsonObject(got) && accepted.some((value) => isJsonObject(value) && sameDict(value, got));
}

function sameDict(wanted: JsonObject, got: JsonObject): boolean {
  const known = Object.keys(got).every((key) => {
    const options = ownValue(wanted, key);
    if (options === undefined) return false;
    return acceptedValues(options).some((value) => jsonEqual(standard(value), standard(got[key] ?? null)));
  });
  return (
    known &&
    Object.keys(wanted).every(
      (key) => Object.hasOwn(got, key) || acceptedValues(wanted[key] ?? null).includes(LEFT_OUT),
    )
  );
}

function listOfDictsAccepted(accepted: Json[], got: Json): boolean {
  if (!Array.isArray(got)) return false;
  return accepted.some((value) => {
    if (!Array.isArray(value) || value.length !== got.length) return false;
    return value.every((wanted, at) => dictAccepted([wanted], got[at] ?? null));
  });
}
