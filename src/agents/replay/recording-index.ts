import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { UserError } from '../../core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import { parseJson } from '../../core/lossless-json.ts';

/** Where each recorded trial stands in a file: the records themselves are read when asked for. */
export interface RecordingIndex {
  /** Numbers of the trials recorded of a case, ascending. */
  trialsOf(caseId: string): number[];
  /** The record of a trial; null when there is none. */
  read(caseId: string, trialIndex: number): Promise<JsonObject | null>;
}

interface Span {
  line: number;
  start: number;
  length: number;
}

/** Longest line held, bytes: a bound on memory. */
const LONGEST_LINE = 64 * 1024 * 1024;

/**
 * Reads a file of recorded trajectories once, one line at a time. A line without `trial` is the next trial of its case.
 * @param shown the file as the user named it
 * @throws UserError when the file cannot be read, or a line is no record, or a trial stands there twice
 */
export async function indexRecording(file: string, shown: string): Promise<RecordingIndex> {
  const spans = new Map<string, Map<number, Span>>();
  for await (const { text, span } of linesOf(file, shown)) add(spans, readRecord(text, shown, span.line), shown, span);
  return {
    trialsOf: (caseId) => [...(spans.get(caseId)?.keys() ?? [])].sort((a, b) => a - b),
    async read(caseId, trialIndex) {
      const span = spans.get(caseId)?.get(trialIndex);
      if (span === undefined) return null;
      return readRecord(await textAt(file, span), shown, span.line);
    },
  };
}

function add(spans: Map<string, Map<number, Span>>, record: JsonObject, shown: string, span: Span): void {
  const caseId = record['caseId'] ?? record['case_id'];
  if (typeof caseId !== 'string') throw fault(shown, span.line, '"caseId": expected the id of a case');
  const trials = spans.get(caseId) ?? new Map<number, Span>();
  spans.set(caseId, trials);
  const written = record['trial'] ?? null;
  let trial = 1;
  if (written === null) while (trials.has(trial)) trial += 1;
  else if (typeof written === 'number' && Number.isSafeInteger(written) && written >= 1) trial = written;
  else throw fault(shown, span.line, '"trial": expected a whole number from 1');
  if (trials.has(trial))
    throw fault(shown, span.line, `trial ${trial} of case "${caseId.slice(0, 300)}" is there twice`);
  trials.set(trial, span);
}

function readRecord(text: string, shown: string, line: number): JsonObject {
  // A byte-order mark begins the file, and so its first line.
  const parsed = parseJson(text.replace(/^\uFEFF/, ''));
  const value: Json = parsed.ok ? parsed.value : null;
  if (isJsonObject(value)) return value;
  throw fault(shown, line, parsed.ok ? 'expected an object: {"caseId": …, "trial": …, …}' : parsed.error);
}

function fault(shown: string, line: number, what: string): UserError {
  return new UserError(`${shown}:${line}: ${what}`, {
    hint: '`assay export` and `assay import trajectories` write such files.',
  });
}

async function textAt(file: string, span: Span): Promise<string> {
  const handle = await open(file);
  try {
    const buffer = Buffer.alloc(span.length);
    await handle.read(buffer, 0, span.length, span.start);
    return buffer.toString('utf8');
  } finally {
    await handle.close();
  }
}

const LINE_FEED = 0x0a;

async function* linesOf(file: string, shown: string): AsyncGenerator<{ text: string; span: Span }> {
  let pending: Buffer[] = [];
  let held = 0;
  let line = 1;
  let start = 0;
  const take = (last: Buffer): { text: string; span: Span } => {
    const bytes = Buffer.concat([...pending, last]);
    const span = { line, start, length: bytes.length };
    pending = [];
    held = 0;
    return { text: bytes.toString('utf8'), span };
  };
  try {
    for await (const data of createReadStream(file, { highWaterMark: 256 * 1024 })) {
      let chunk = data as Buffer;
      for (let at = chunk.indexOf(LINE_FEED); at >= 0; at = chunk.indexOf(LINE_FEED)) {
        const taken = take(chunk.subarray(0, at));
        if (taken.text.trim() !== '') yield taken;
        start += taken.span.length + 1;
        line += 1;
        chunk = chunk.subarray(at + 1);
      }
      pending.push(chunk);
      held += chunk.length;
      if (held > LONGEST_LINE) throw fault(shown, line, `a line longer than ${LONGEST_LINE} bytes`);
    }
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === undefined) throw error;
    throw new UserError(`${shown}: ${code === 'ENOENT' ? 'there is no such file' : `cannot be read (${code})`}`, {
      hint: 'agent.trajectories is relative to the suite file; every worker needs the file.',
      cause: error,
    });
  }
  const rest = take(Buffer.alloc(0));
  if (rest.text.trim() !== '') yield rest;
}
