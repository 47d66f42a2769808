import path from 'node:path';
import { readToolCall } from '../../agents/openai/read-tool-call.ts';
import { InputError, type Problem, UserError } from '../../core/errors.ts';
import type { Json, JsonObject } from '../../core/json.ts';
import { parseJson } from '../../core/lossless-json.ts';
import type { Trajectory } from '../../core/trajectory.ts';
import { completeTrajectory, type ImportedTrace } from '../../datasets/imports/imported-trace.ts';
import { readLangfuseTraces } from '../../datasets/imports/langfuse.ts';
import { readMessageRecord } from '../../datasets/imports/openai-messages.ts';
import { readGenAiTraces } from '../../datasets/imports/otel-genai.ts';
import { type OtlpSpan, readOtlpSpans } from '../../datasets/imports/otlp-spans.ts';
import { readJsonl } from '../../datasets/readers/read-jsonl.ts';
import { readText } from '../../datasets/readers/read-text.ts';
import { trajectoryFromRecord } from '../../scorers/trajectories/from-record.ts';
import type { CommandContext } from '../context.ts';
import { writeNewFiles } from './write-new-files.ts';

/** Flags of `assay import trajectories`, as commander hands them over. */
export interface ImportTrajectoriesFlags {
  from: 'openai' | 'otel' | 'langfuse';
  caseAttribute: string;
  out: string;
  force?: boolean;
  json?: boolean;
}

interface Imported {
  caseId: string;
  trial: number | null;
  trajectory: Trajectory;
}

/** A document of the file: the whole of it, or a line. */
interface Document {
  value: Json;
  line: number;
}

/**
 * `assay import trajectories`: recorded runs of other tools as trajectories of this one, one JSON line a trial.
 * @throws InputError with every document that cannot be read; UserError when the target exists or nothing was found
 */
export async function importTrajectories(
  context: CommandContext,
  file: string,
  flags: ImportTrajectoriesFlags,
): Promise<void> {
  const documents = await readDocuments(context, file);
  const problems: Problem[] = [];
  const fail = (line: number, message: string): void =>
    void problems.push({ severity: 'error', file, line, column: line === 0 ? 0 : 1, message });
  const imported = READERS[flags.from](documents, flags.caseAttribute, fail);
  if (problems.length > 0) throw new InputError(problems);
  if (imported.length === 0) {
    throw new UserError(`${file} holds no run of an agent in the form of ${flags.from}`, {
      hint: 'Name the form with --from: openai, otel or langfuse. What each reads: docs/agents.md.',
    });
  }
  const lines = numbered(imported).map((one) => `${JSON.stringify(one)}\n`);
  const target = path.resolve(context.cwd, flags.out);
  const files = new Map([[path.basename(target), lines.join('')]]);
  await writeNewFiles(path.dirname(target), files, { force: flags.force === true, shown: path.dirname(flags.out) });
  const cases = new Set(imported.map((one) => one.caseId)).size;
  if (flags.json === true) {
    context.stdout(`${JSON.stringify({ out: flags.out, trajectories: lines.length, cases })}\n`);
  } else context.stdout(`${lines.length} trajectories of ${cases} cases → ${flags.out}\n`);
}

/** A JSON document, or one a line. A file that is named as JSON lines is read line by line, however large. */
async function readDocuments(context: CommandContext, file: string): Promise<Document[]> {
  return /\.(?:jsonl|ndjson)$/i.test(file) ? readLines(context, file) : readWhole(context, file);
}

async function readLines(context: CommandContext, file: string): Promise<Document[]> {
  const problems: Problem[] = [];
  const documents: Document[] = [];
  for await (const source of readJsonl(path.resolve(context.cwd, file), file, (problem) => problems.push(problem))) {
    documents.push({ value: source.value, line: source.place([]).line });
  }
  if (problems.length > 0) throw new InputError(problems);
  return documents;
}

async function readWhole(context: CommandContext, file: string): Promise<Document[]> {
  const problems: Problem[] = [];
  const text = await readText(path.resolve(context.cwd, file), file, (problem) => problems.push(problem));
  if (text === null) throw new InputError(problems);
  const whole = parseJson(text);
  if (whole.ok) return [{ value: whole.value, line: 1 }];
  const documents: Document[] = [];
  text.split('\n').forEach((line, at) => {
    if (line.trim() === '') return;
    const parsed = parseJson(line);
    if (parsed.ok) documents.push({ value: parsed.value, line: at + 1 });
    else problems.push({ severity: 'error', file, line: at + 1, column: parsed.offset + 1, message: parsed.error });
  });
  if (problems.length > 0) throw new InputError(problems);
  return documents;
}

type Fail = (line: number, message: string) => void;
type Reader = (documents: readonly Document[], caseAttribute: string, fail: Fail) => Imported[];

const READERS: Record<ImportTrajectoriesFlags['from'], Reader> = {
  openai: readMessages,
  otel: (documents, caseAttribute, fail) => {
    const spans: OtlpSpan[] = [];
    for (const { value, line } of documents) {
      const read = readOtlpSpans(value);
      if (read === null) fail(line, 'expected OTLP JSON: {"resourceSpans": […]}');
      else spans.push(...read);
    }
    return fromTraces(readGenAiTraces(spans, caseAttribute), fail);
  },
  langfuse: (documents, caseAttribute, fail) =>
    documents.flatMap(({ value, line }) => {
      const traces = readLangfuseTraces(value, caseAttribute);
      if (traces !== null) return fromTraces(traces, fail);
      fail(line, 'expected traces with their observations: {"id", "observations": […]}');
      return [];
    }),
};

function readMessages(documents: readonly Document[], _caseAttribute: string, fail: Fail): Imported[] {
  const [only] = documents;
  // A file that is one list holds records, unless its items are messages.
  const items: Document[] =
    documents.length === 1 && only !== undefined && Array.isArray(only.value) && !only.value.every(isMessage)
      ? only.value.map((value) => ({ value, line: only.line }))
      : [...documents];
  return items.flatMap(({ value, line }, at) => {
    const read = readMessageRecord(value, at + 1);
    if (read === null) {
      fail(line, 'expected messages: {"caseId": …, "messages": […]}, or a request with its response');
      return [];
    }
    const trajectory = trajectoryOf(read.record, (message) => fail(line, message));
    return trajectory === null ? [] : [{ caseId: read.case_id, trial: read.trial, trajectory }];
  });
}

function isMessage(value: Json): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && typeof value['role'] === 'string';
}

function fromTraces(traces: readonly ImportedTrace[], fail: Fail): Imported[] {
  return traces.flatMap((trace) => {
    const read = trajectoryOf({ messages: trace.messages }, (message) =>
      fail(0, `trace of case "${trace.case_id}": ${message}`),
    );
    if (read === null) return [];
    return [{ caseId: trace.case_id, trial: trace.trial, trajectory: completeTrajectory(read, trace) }];
  });
}

function trajectoryOf(record: JsonObject, fail: (message: string) => void): Trajectory | null {
  const read = trajectoryFromRecord(record, { readToolCall });
  if (read.ok) return read.trajectory;
  fail(`${read.path.join('.') || 'messages'}: ${read.problem}`);
  return null;
}

/** Each trial with its number: as recorded where it is free, else the next free one of its case. */
function numbered(imported: readonly Imported[]): { caseId: string; trial: number; trajectory: Trajectory }[] {
  const taken = new Map<string, Set<number>>();
  return imported.map(({ caseId, trial, trajectory }) => {
    const trials = taken.get(caseId) ?? new Set<number>();
    taken.set(caseId, trials);
    let free = trial !== null && trial >= 1 && !trials.has(trial) ? trial : 1;
    while (trials.has(free)) free += 1;
    trials.add(free);
    return { caseId, trial: free, trajectory };
  });
}
