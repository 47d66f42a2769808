import { appendFile, mkdir, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { ToolDefinition } from '../../core/case.ts';
import { UserError } from '../../core/errors.ts';
import { hashValue } from '../../core/hash.ts';
import type { Json, JsonObject } from '../../core/json.ts';
import { isJsonObject } from '../../core/json.ts';
import { parseJson } from '../../core/lossless-json.ts';

/** What a recorded call was answered with. */
export interface RecordedAnswer {
  result: Json;
  error: { kind: string; message: string } | null;
}

/** A call as it stands in a recording. */
interface RecordedCall extends RecordedAnswer {
  /** One trial's conversation with the server; a trial that was run again has another. */
  session: string;
  case: string;
  tool: string;
  args: JsonObject;
}

/** A recording of one or more servers: JSON lines of `{type: tools, …}` and `{type: call, …}`. */
export interface Recording {
  /** Tools of each server, as last recorded. */
  tools: Map<string, ToolDefinition[]>;
  /** Each with the hash of its tool and arguments, made once: every trial looks through all of them. */
  calls: Map<string, (RecordedCall & { key: string })[]>;
}

/** @throws UserError when the file cannot be read, or a line of it is no record */
export async function readRecording(path: string): Promise<Recording> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw new UserError(`the MCP recording ${path} cannot be read: ${String(error)}`, {
      hint: 'Run once with mode: record to make it; every worker needs the file.',
      cause: error,
    });
  });
  const recording: Recording = { tools: new Map(), calls: new Map() };
  for (const [at, line] of text.split('\n').entries()) {
    if (line.trim() !== '') addLine(recording, line, `${path}:${at + 1}`);
  }
  return recording;
}

function addLine(recording: Recording, line: string, place: string): void {
  const parsed = parseJson(line);
  const record = parsed.ok && isJsonObject(parsed.value) ? parsed.value : {};
  const { type, server } = record;
  if (typeof server === 'string' && type === 'tools' && Array.isArray(record['tools'])) {
    recording.tools.set(server, record['tools'] as unknown as ToolDefinition[]);
    return;
  }
  if (
    typeof server !== 'string' ||
    type !== 'call' ||
    typeof record['tool'] !== 'string' ||
    !isJsonObject(record['args'])
  ) {
    throw new UserError(`${place}: expected {"type": "tools" or "call", "server", …} of an MCP recording`, {
      hint: 'Record anew with mode: record, into a new file.',
    });
  }
  const calls = recording.calls.get(server) ?? [];
  calls.push({ ...(record as unknown as RecordedCall), key: keyOf(record['tool'], record['args']) });
  recording.calls.set(server, calls);
}

/** Answers calls from a recording, for one trial. */
export interface Replay {
  /** Null: such a call was never recorded. */
  answer(tool: string, args: JsonObject): RecordedAnswer | null;
}

/**
 * The calls of one server for a trial of `caseId`. Equal calls get their answers in the order recorded, the last again
 * and again: those of the case's own last session where it made such a call, else those of the first session that did.
 */
export function createReplay(recording: Recording, server: string, caseId: string): Replay {
  const calls = recording.calls.get(server) ?? [];
  const own = calls.findLast((call) => call.case === caseId)?.session;
  const used = new Map<string, number>();
  return {
    answer(tool, args) {
      const key = keyOf(tool, args);
      const equal = calls.filter((call) => call.key === key);
      const session = equal.some((call) => call.session === own) ? own : equal[0]?.session;
      const answers = equal.filter((call) => call.session === session);
      const count = used.get(key) ?? 0;
      used.set(key, count + 1);
      const call = answers[Math.min(count, answers.length - 1)];
      return call === undefined ? null : { result: call.result, error: call.error };
    },
  };
}

function keyOf(tool: string, args: JsonObject): string {
  return hashValue({ tool, args });
}

/** Writes a recording, a line at a time; lines of several processes do not mix. */
export interface RecordingWriter {
  tools(server: string, tools: readonly ToolDefinition[]): Promise<void>;
  call(server: string, call: RecordedCall): Promise<void>;
}

/** @param mask takes out what must not be stored */
export function createRecordingWriter(path: string): RecordingWriter {
  const told = new Set<string>();
  const append = async (record: object): Promise<void> => {
    await mkdir(dirname(path), { recursive: true });
    await appendFile(path, `${JSON.stringify(record)}\n`, { mode: 0o600 });
  };
  return {
    async tools(server, tools) {
      const key = `${server} ${hashValue(tools)}`;
      if (told.has(key)) return;
      told.add(key);
      await append({ type: 'tools', server, tools });
    },
    call: (server, call) => append({ type: 'call', server, ...call }),
  };
}
