import type { EvalCase, ExpectedCall, ToolDefinition } from '../../core/case.ts';
import { isJsonObject } from '../../core/json.ts';
import type { Json, JsonObject } from '../../core/json.ts';
import { isMatcher } from '../../core/matcher-object.ts';

/** Marks an argument that may be left out, in a list of accepted values. */
const LEFT_OUT = '';

/** Most literal objects an ambiguous nested object is written out to. */
const MAX_COMBINATIONS = 64;

/** JSON Schema names of BFCL's types; `any` is a schema without a type. */
const TYPES: Record<string, string | null> = { dict: 'object', float: 'number', tuple: 'array', any: null };

export interface BfclCase {
  evalCase: EvalCase;
  /** Tool names that had to change, old → new. */
  renamed: Map<string, string>;
}

/**
 * A question of the Berkeley Function-Calling Leaderboard, `{id, question: [[messages]], function: […]}`, and its ground
 * truth, `[{tool: {argument: [accepted values]}}]`, as a case. Several expected calls match in any order, one strictly; no
 * ground truth (irrelevance) means that no call is right. Tool names keep letters, digits, `_` and `-` only, as
 * OpenAI-compatible endpoints require.
 * @throws Error that says which part of the record is not as the leaderboard writes it
 */
export function caseFromBfcl(question: JsonObject, groundTruth: Json | null): BfclCase {
  const { id } = question;
  if (typeof id !== 'string') throw new Error('id: expected text');
  const turns = question['question'];
  const messages = Array.isArray(turns) ? turns[0] : undefined;
  if (!Array.isArray(turns) || !Array.isArray(messages)) throw new Error('question: expected [[messages]]');
  if (turns.length > 1) throw new Error('question: several turns; only single-turn categories are read');
  const functions = question['function'];
  if (!Array.isArray(functions)) throw new Error('function: expected a list');
  const renamed = new Map<string, string>();
  const names = safeNames(functions.map(nameOf), renamed);
  const tools = functions.map((tool) => toolOf(tool, names));
  const calls = groundTruth === null ? [] : callsOf(groundTruth, names);
  const category = id.replace(/_\d+(-\d+)*$/, '');
  const evalCase: EvalCase = {
    id,
    ...inputOf(messages),
    tools,
    expected: { calls, match: calls.length > 1 ? 'unordered' : 'strict' },
    category,
    tags: ['bfcl'],
  };
  return { evalCase, renamed };
}

function inputOf(messages: Json[]): Pick<EvalCase, 'input' | 'messages'> {
  const read = messages.map((message) => {
    const { role, content } = isJsonObject(message) ? message : {};
    if ((role !== 'user' && role !== 'system' && role !== 'assistant') || typeof content !== 'string') {
      throw new Error('question: expected messages {role, content}');
    }
    return { role, content } as const;
  });
  const only = read.length === 1 && read[0]?.role === 'user' ? read[0] : undefined;
  return only === undefined ? { messages: read } : { input: only.content };
}

function nameOf(tool: Json): string {
  if (!isJsonObject(tool) || typeof tool['name'] !== 'string') throw new Error('function: expected {name, parameters}');
  return tool['name'];
}

/** Old → new name for every tool of a case; new names are distinct. */
function safeNames(names: readonly string[], renamed: Map<string, string>): Map<string, string> {
  const taken = new Set(names.filter((name) => /^[a-zA-Z0-9_-]{1,64}$/.test(name)));
  const safe = new Map<string, string>();
  for (const name of names) {
    let candidate = name;
    if (!taken.has(name)) {
      const plain = name.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, 60);
      candidate = plain;
      for (let n = 2; taken.has(candidate); n++) candidate = `${plain}_${n}`;
      taken.add(candidate);
      renamed.set(name, candidate);
    }
    safe.set(name, candidate);
  }
  return safe;
}

function toolOf(tool: Json, names: ReadonlyMap<string, string>): ToolDefinition {
  const name = nameOf(tool);
  const { description, parameters } = tool as JsonObject;
  return {
    name: names.get(name) ?? name,
    ...(typeof description === 'string' ? { description } : {}),
    ...(isJsonObject(parameters) ? { parameters: schemaOf(parameters) } : {}),
  };
}

/** A parameter schema of BFCL as JSON Schema: its types renamed, its `optional` marks dropped. */
export function schemaOf(schema: JsonObject): JsonObject {
  const out: JsonObject = {};
  // Keys keep their order: it is what the model is shown.
  for (const [key, value] of Object.entries(schema)) {
    if (key === 'optional') continue;
    if (key === 'type' && typeof value === 'string' && Object.hasOwn(TYPES, value)) {
      const name = TYPES[value] ?? null;
      if (name !== null) out[key] = name;
    } else if (key === 'properties' && isJsonObject(value)) {
      out[key] = Object.fromEntries(
        Object.entries(value).map(([name, inner]) => [name, isJsonObject(inner) ? schemaOf(inner) : inner]),
      );
    } else out[key] = key === 'items' && isJsonObject(value) ? schemaOf(value) : value;
  }
  return out;
}

function callsOf(groundTruth: Json, names: ReadonlyMap<string, string>): ExpectedCall[] {
  if (!Array.isArray(groundTruth)) throw new Error('ground_truth: expected a list of calls');
  return groundTruth.map((call) => {
    const entries = isJsonObject(call) ? Object.entries(call) : [];
    const [tool, args] = entries[0] ?? [];
    if (entries.length !== 1 || tool === undefined || !isJsonObject(args)) {
      throw new Error('ground_truth: expected {tool: {argument: [accepted values]}}');
    }
    const name = names.get(tool);
    if (name === undefined) throw new Error(`ground_truth: calls "${tool}", which is not among the functions`);
    return { tool: name, args: argumentsOf(args) };
  });
}

function argumentsOf(args: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(args).map(([key, accepted]) => {
      if (!Array.isArray(accepted)) throw new Error(`ground_truth: ${key}: expected a list of accepted values`);
      return [key, matcherOf(accepted)];
    }),
  );
}

/** Accepted values as a literal or a matcher: `""` among others means that the argument may be left out. */
export function matcherOf(accepted: readonly Json[]): Json {
  const optional = accepted.includes(LEFT_OUT);
  const values = accepted.filter((value) => value !== LEFT_OUT).flatMap(alternativesOf);
  if (optional && values.length === 0) return { equals: LEFT_OUT, optional: true };
  const only = values.length === 1 ? values[0] : undefined;
  if (only !== undefined && !optional) return only;
  return { any_of: values, ...(optional ? { optional: true } : {}) };
}

/** One accepted value: inside an object, each member is again a list of accepted values. */
function alternativesOf(value: Json): Json[] {
  if (isJsonObject(value)) {
    if (!Object.values(value).every((member) => Array.isArray(member))) return [literal(value)];
    const members = argumentsOf(value);
    return isMatcher(members) ? combinations(value).map(literal) : [members];
  }
  if (Array.isArray(value)) return lists(value);
  return [value];
}

/** A list with objects in it: every object takes one of its forms. */
function lists(value: Json[]): Json[] {
  let out: Json[][] = [[]];
  for (const item of value) {
    const forms = isJsonObject(item) ? alternativesOf(item) : [item];
    out = out.flatMap((list) => forms.map((form) => [...list, form])).slice(0, MAX_COMBINATIONS);
  }
  return out;
}

/** An object whose keys all happen to be matcher keywords, as every literal it stands for. */
function combinations(value: JsonObject): JsonObject[] {
  let out: JsonObject[] = [{}];
  for (const [key, accepted] of Object.entries(value)) {
    const options = Array.isArray(accepted) ? accepted : [accepted];
    out = out
      .flatMap((object) =>
        options.map((option): JsonObject => (option === LEFT_OUT ? object : { ...object, [key]: option })),
      )
      .slice(0, MAX_COMBINATIONS);
  }
  return out;
}

function literal(value: Json): Json {
  return isMatcher(value) ? { equals: value } : value;
}
