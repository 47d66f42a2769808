import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import { getPath, removePath, setPath } from './mock-state.ts';

/** What replies can read: the state before the reply, and the arguments of the call. */
export interface Before {
  state: JsonObject | null;
  args: JsonObject;
}

/**
 * Fills a value of a fixture, at every depth and once: what is filled in is data and is not read again.
 *
 * `{$state: path}` and `{$arg: path}` stand for a value (null when there is none). In texts `{{state.path}}` and
 * `{{args.path}}` do: a text that is nothing else becomes the value itself, inside a longer one it is written out.
 * `{$literal: value}` is the value as it stands.
 */
export function fill(value: Json, before: Before): Json {
  if (typeof value === 'string') return fillText(value, before);
  if (Array.isArray(value)) return value.map((item) => fill(item, before));
  if (!isJsonObject(value)) return value;
  const keys = Object.keys(value);
  if (keys.length === 1 && typeof value['$state'] === 'string') return getPath(before.state, value['$state']) ?? null;
  if (keys.length === 1 && typeof value['$arg'] === 'string') return argOf(value['$arg'], before);
  if (keys.length === 1 && value['$literal'] !== undefined) return value['$literal'];
  const entries = Object.entries(value).map(([key, item]) => [key, fill(item, before)] as const);
  // fromEntries defines own properties, so a key named __proto__ stays data.
  return Object.fromEntries(entries);
}

/**
 * The state with one write of `set_state` done: a value is set; `{$add: n}` adds to the number there (0 when there is
 * none), `{$append: value}` puts a value at the end of the list there, `{$remove: true}` takes away what is there.
 */
export function writeState(state: JsonObject, path: string, write: Json, before: Before): JsonObject {
  const operation = isJsonObject(write) && Object.keys(write).length === 1 ? write : {};
  const there = getPath(state, path) ?? null;
  if (operation['$remove'] === true) return removePath(state, path);
  if (operation['$append'] !== undefined) {
    const list = Array.isArray(there) ? there : [];
    return setPath(state, path, [...list, fill(operation['$append'], before)]);
  }
  if (operation['$add'] !== undefined) {
    const by = fill(operation['$add'], before);
    const from = typeof there === 'number' ? there : 0;
    return setPath(state, path, typeof by === 'number' ? from + by : from);
  }
  return setPath(state, path, fill(write, before));
}

const PLACEHOLDER = /\{\{\s*(state|args)\.([^{}\s]+)\s*\}\}/g;
const WHOLE = /^\{\{\s*(state|args)\.([^{}\s]+)\s*\}\}$/;

function fillText(text: string, before: Before): Json {
  const whole = WHOLE.exec(text);
  if (whole !== null) return lookUp(whole[1], whole[2] ?? '', before);
  return text.replaceAll(PLACEHOLDER, (_, from: string, path: string) => written(lookUp(from, path, before)));
}

function lookUp(from: string | undefined, path: string, before: Before): Json {
  return from === 'state' ? (getPath(before.state, path) ?? null) : argOf(path, before);
}

/** An argument by its name, else by a path into the arguments. */
function argOf(path: string, { args }: Before): Json {
  return Object.hasOwn(args, path) ? (args[path] ?? null) : (getPath(args, path) ?? null);
}

function written(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
