import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import { parseJson } from '../../core/lossless-json.ts';

/** A message of a program, one JSON object a line (docs/agents.md). */
type ProgramMessage =
  /** One call, or the calls of one turn. */
  { type: 'calls'; calls: Json[]; single: boolean } | { type: 'result'; report: JsonObject };

export type ReadMessage = { ok: true; message: ProgramMessage } | { ok: false; error: string };

const EXPECTED = '{"type": "tool_call" | "tool_calls" | "result", …}';

/** Reads one line of a program's standard output. */
export function readProgramMessage(line: string): ReadMessage {
  const parsed = parseJson(line);
  if (!parsed.ok) return bad(`no JSON (${parsed.error}); logs belong on standard error`, line);
  const { value } = parsed;
  if (!isJsonObject(value)) return bad(`expected ${EXPECTED}`, line);
  const { type, ...rest } = value;
  if (type === 'tool_call') return { ok: true, message: { type: 'calls', calls: [rest], single: true } };
  if (type === 'result') return { ok: true, message: { type: 'result', report: rest } };
  if (type === 'tool_calls') {
    const { calls } = rest;
    if (!Array.isArray(calls) || calls.length === 0) return bad('calls: expected a list of calls', line);
    return { ok: true, message: { type: 'calls', calls, single: false } };
  }
  if (type === undefined) return bad(`a line without "type"; the answer is {"type": "result", "answer": "…"}`, line);
  return bad(`unknown type ${JSON.stringify(type ?? null).slice(0, 60)}; expected ${EXPECTED}`, line);
}

function bad(what: string, line: string): ReadMessage {
  return { ok: false, error: `${what}: ${cut(line)}` };
}

/** The line as the program wrote it, so that quotes in it stay readable; control characters are escaped. */
function cut(line: string): string {
  return line
    .slice(0, 200)
    .replace(/\p{Cc}/gu, (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
