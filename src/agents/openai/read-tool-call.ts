import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import { parseJson } from '../../core/lossless-json.ts';
import { MALFORMED_TOOL } from '../../core/trajectory.ts';

/** A tool call as the model meant it, or why it could not be read. */
export interface ReadCall {
  id: string | null;
  /** Name as called, or `(malformed)` when there was none. */
  tool: string;
  /** Null when malformed. */
  args: JsonObject | null;
  /** The text as the model sent it; null for a well-formed call. */
  rawArguments: string | null;
  /** Null for a well-formed call. */
  malformed: string | null;
}

/**
 * Reads one raw tool call. A call that cannot be read is kept with its text, never taken for a call with `{}`
 * (T7, T9): no arguments at all, an empty text, JSON that is no object and text that is no JSON are all malformed.
 * Arguments sent as an object instead of text, as some servers do, are accepted.
 */
export function readToolCall(raw: Json): ReadCall {
  if (!isJsonObject(raw)) return broken(null, MALFORMED_TOOL, raw, 'the tool call is no object');
  const id = typeof raw['id'] === 'string' ? raw['id'] : null;
  const type = raw['type'];
  if (type === 'custom') {
    const custom = isJsonObject(raw['custom']) ? raw['custom'] : {};
    const input = typeof custom['input'] === 'string' ? custom['input'] : raw;
    return broken(id, nameOf(custom), input, 'a call of type "custom": only functions are offered');
  }
  if (type !== undefined && type !== null && type !== 'function') {
    return broken(id, MALFORMED_TOOL, raw, `a call of unknown type ${JSON.stringify(type)}`);
  }
  const fn = raw['function'];
  if (!isJsonObject(fn)) return broken(id, MALFORMED_TOOL, raw, 'the tool call names no function');
  const tool = nameOf(fn);
  if (tool === MALFORMED_TOOL) return broken(id, tool, fn['arguments'] ?? raw, 'the function has no name');
  return readArguments(id, tool, fn['arguments']);
}

function readArguments(id: string | null, tool: string, value: Json | undefined): ReadCall {
  if (isJsonObject(value)) return { id, tool, args: value, rawArguments: null, malformed: null };
  if (value === undefined) return broken(id, tool, '', 'there are no arguments; expected a JSON object');
  if (typeof value !== 'string') return broken(id, tool, value, `the arguments are ${kindOf(value)}, not an object`);
  if (value.trim() === '') return broken(id, tool, value, 'the arguments are empty; expected a JSON object');
  const parsed = parseJson(value);
  if (!parsed.ok) return broken(id, tool, value, `the arguments are not JSON: ${parsed.error}`);
  if (!isJsonObject(parsed.value)) {
    return broken(id, tool, value, `the arguments are ${kindOf(parsed.value)}, not an object`);
  }
  return { id, tool, args: parsed.value, rawArguments: null, malformed: null };
}

function broken(id: string | null, tool: string, raw: Json, why: string): ReadCall {
  const rawArguments = typeof raw === 'string' ? raw : JSON.stringify(raw);
  return { id, tool, args: null, rawArguments, malformed: why };
}

function nameOf(fn: JsonObject): string {
  const name = fn['name'];
  return typeof name === 'string' && name !== '' ? name : MALFORMED_TOOL;
}

function kindOf(value: Json): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'a list' : `a ${typeof value}`;
}
