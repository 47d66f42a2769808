import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import type { ToolCall } from '../../core/trajectory.ts';
import { type ReadCall, readToolCall } from '../openai/read-tool-call.ts';

/** A call an agent made by itself, as it reports it. */
export interface ReportedCall {
  read: ReadCall;
  /** Turn within this report; null: a turn of its own. */
  turn: number | null;
  result: Json;
  error: ToolCall['error'];
}

/**
 * Reads a call: `{tool, args}` (or `{name, arguments}`), or the form of OpenAI, `{type, function: {name, arguments}}`. What
 * cannot be read is kept as a malformed call with its text (T7, T9).
 */
export function readAgentCall(raw: Json): ReadCall {
  if (!isJsonObject(raw) || raw['function'] !== undefined || raw['type'] === 'custom') return readToolCall(raw);
  const name = raw['tool'] ?? raw['name'];
  // `{tool: null}` names no function: without one the reader keeps the whole call as its text.
  if (typeof name !== 'string' || name === '') return readToolCall({ id: idOf(raw), function: null, ...raw });
  const args = raw['args'] ?? raw['arguments'];
  return readToolCall({
    id: idOf(raw),
    type: 'function',
    function: { name, ...(args === undefined ? {} : { arguments: args }) },
  });
}

/** Reads a call the agent ran itself: the call, `turn`, and its `result` or `error` (a text, or `{kind, message}`). */
export function readReportedCall(raw: Json): ReportedCall {
  const read = readAgentCall(withoutOwnType(raw));
  const record: JsonObject = isJsonObject(raw) ? raw : {};
  const turn = record['turn'];
  return {
    read,
    turn: typeof turn === 'number' && Number.isSafeInteger(turn) && turn >= 0 ? turn : null,
    result: record['result'] ?? record['output'] ?? null,
    error: errorOf(record['error']),
  };
}

/** `{type: "tool_call", tool, args}`: the type of a message, not of a call. */
function withoutOwnType(raw: Json): Json {
  if (!isJsonObject(raw) || raw['type'] === 'custom' || raw['function'] !== undefined) return raw;
  const { type: _type, ...call } = raw;
  return call;
}

/** What a tool said went wrong; null when nothing did. */
function errorOf(value: Json | undefined): ToolCall['error'] {
  if (value === undefined || value === null || value === false) return null;
  if (!isJsonObject(value))
    return { kind: 'error', message: typeof value === 'string' ? value : JSON.stringify(value) };
  const { kind, message } = value;
  return {
    kind: typeof kind === 'string' && kind !== '' ? kind : 'error',
    message: typeof message === 'string' ? message : JSON.stringify(value),
  };
}

function idOf(raw: JsonObject): string | null {
  return typeof raw['id'] === 'string' ? raw['id'] : null;
}
