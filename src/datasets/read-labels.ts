import { extname, resolve } from 'node:path';
import { didYouMean, nearest } from '../core/did-you-mean.ts';
import { InputError } from '../core/errors.ts';
import type { Problem } from '../core/errors.ts';
import type { Json, JsonObject } from '../core/json.ts';
import { isJsonObject } from '../core/json.ts';
import { readCsv } from './readers/read-csv.ts';
import { readJsonl } from './readers/read-jsonl.ts';
import { readText } from './readers/read-text.ts';
import { describe, errorAt } from './readers/source.ts';
import type { Report, SourceValue } from './readers/source.ts';

/** One line of a file of human labels. */
export interface LabelRow {
  case_id: string;
  trial: number;
  dimension: string;
  reviewer: string;
  label: string | number | boolean;
  /** What the judge said, where the file holds it; undefined: not in the file; null: no verdict. */
  judge: string | number | boolean | null | undefined;
  prompt_hash: string | null;
  /** `file:line:column` of the label. */
  place: { file: string; line: number; column: number };
}

export interface ReadLabels {
  rows: LabelRow[];
  /** Lines whose label is still empty. */
  blank: number;
}

const KEYS = ['caseId', 'trial', 'dimension', 'label', 'reviewer', 'judge', 'promptHash'] as const;
/** Other spellings of the keys, and keys that a file to label holds beside them. */
const SPELLINGS: Record<string, (typeof KEYS)[number]> = {
  case_id: 'caseId',
  human: 'label',
  prompt_hash: 'promptHash',
};

/**
 * Human labels from JSON lines (.jsonl, .ndjson) or CSV (.csv, .tsv): `caseId`, `dimension`, `label`, and `trial` (default
 * 1), `reviewer`, `judge`, `promptHash`; other keys are passed over. A line with an empty label is counted, not read.
 * @param options.reviewer who labelled the lines that name nobody
 * @throws InputError with every problem at once, a label given twice among them
 */
export async function readLabels(
  path: string,
  options: { cwd: string; reviewer?: string | undefined },
): Promise<ReadLabels> {
  const problems: Problem[] = [];
  const report: Report = (problem) => void problems.push(problem);
  const read: ReadLabels = { rows: [], blank: 0 };
  const seen = new Set<string>();
  for await (const source of sourcesOf(resolve(options.cwd, path), path, report)) {
    const row = rowOf(source, options.reviewer, report);
    if (row === 'blank') read.blank += 1;
    if (row === null || row === 'blank') continue;
    const key = JSON.stringify([row.case_id, row.trial, row.dimension, row.reviewer, row.prompt_hash]);
    if (seen.has(key)) {
      const { reviewer, dimension, case_id, trial } = row;
      const who = reviewer === '' ? 'somebody unnamed' : reviewer;
      report(errorAt(row.place, `${who} labelled ${dimension} of case ${case_id}, trial ${trial}, twice`));
    }
    seen.add(key);
    read.rows.push(row);
  }
  const errors = problems.filter(({ severity }) => severity === 'error');
  if (errors.length > 0) throw new InputError(errors);
  return read;
}

async function* sourcesOf(absolute: string, file: string, report: Report): AsyncGenerator<SourceValue> {
  const extension = extname(absolute).toLowerCase();
  if (extension === '.jsonl' || extension === '.ndjson') {
    yield* readJsonl(absolute, file, report);
  } else if (extension === '.csv' || extension === '.tsv') {
    const text = await readText(absolute, file, report);
    if (text !== null) yield* readCsv(text, file, report, 'dimension');
  } else {
    report(errorAt({ file, line: 0, column: 0 }, 'expected labels as .jsonl, .ndjson, .csv or .tsv'));
  }
}

function rowOf(source: SourceValue, reviewer: string | undefined, report: Report): LabelRow | 'blank' | null {
  const { value } = source;
  if (!isJsonObject(value)) {
    report(errorAt(source.place([]), `expected {"caseId": …, "dimension": …, "label": …}, got ${describe(value)}`));
    return null;
  }
  const { fields, written } = fieldsOf(value);
  const slips = Object.keys(value).filter((name) => !isKnown(name) && missing(nearest(name, WRITTEN), fields));
  for (const name of slips) {
    report(errorAt(source.place([name], 'key'), `unknown key "${name}"${didYouMean(name, WRITTEN)}`));
  }
  if (slips.length > 0) return null;
  const label = fields['label'] ?? null;
  if (label === null || label === '') return 'blank';
  let good = true;
  const refuse = (key: string, expected: string): void => {
    good = false;
    const at = source.place(written[key] === undefined ? [] : [written[key]]);
    report(errorAt(at, `"${key}": expected ${expected}, got ${describe(fields[key])}`));
  };
  const caseId = idOf(fields['caseId']);
  const trial = trialOf(fields['trial']);
  const dimension = fields['dimension'];
  const judge = fields['judge'];
  if (caseId === null) refuse('caseId', 'the id of a case');
  if (!Number.isSafeInteger(trial) || trial < 1) refuse('trial', 'a whole number from 1');
  if (!isName(fields['reviewer'])) refuse('reviewer', 'a name');
  if (!isName(fields['promptHash'])) refuse('promptHash', 'the hash of a prompt');
  if (typeof dimension !== 'string' || dimension === '') refuse('dimension', 'the name of a dimension');
  if (!isRating(label)) refuse('label', 'a text, a number, or true or false');
  if (judge !== undefined && judge !== null && !isRating(judge))
    refuse('judge', 'a text, a number, true, false or null');
  if (!good || caseId === null || typeof dimension !== 'string' || !isRating(label)) return null;
  return {
    case_id: caseId,
    trial,
    dimension,
    reviewer: idOf(fields['reviewer']) ?? reviewer ?? '',
    label,
    judge: judge === undefined || judge === null || isRating(judge) ? judge : undefined,
    prompt_hash: idOf(fields['promptHash']),
    place: source.place([written['label'] ?? 'label']),
  };
}

const WRITTEN = [...KEYS, ...Object.keys(SPELLINGS)];

function isKnown(name: string): boolean {
  return WRITTEN.includes(name);
}

/** True for a known key that the line does not have: the one nearest to it is a slip, not a key of the user's own. */
function missing(key: string | null, fields: Record<string, Json | undefined>): boolean {
  return key !== null && fields[SPELLINGS[key] ?? key] === undefined;
}

function fieldsOf(value: JsonObject): { fields: Record<string, Json | undefined>; written: Record<string, string> } {
  const fields: Record<string, Json | undefined> = {};
  const written: Record<string, string> = {};
  for (const [name, field] of Object.entries(value)) {
    const key = Object.hasOwn(SPELLINGS, name) ? (SPELLINGS[name] ?? name) : name;
    if (!(KEYS as readonly string[]).includes(key)) continue;
    fields[key] = field;
    written[key] = name;
  }
  return { fields, written };
}

/** 1-based; NaN when it is no number. */
function trialOf(value: Json | undefined): number {
  if (value === undefined) return 1;
  return typeof value === 'number' || typeof value === 'string' ? Number(value) : Number.NaN;
}

/** May be left out, but not be something else. */
function isName(value: Json | undefined): boolean {
  return value === undefined || value === null || typeof value === 'string' || typeof value === 'number';
}

function idOf(value: Json | undefined): string | null {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value !== '' ? value : null;
}

function isRating(value: Json | undefined): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}
