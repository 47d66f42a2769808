import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { describeFileError, hasCode } from './system-error.ts';

const PROCESS = z.object({ pid: z.int(), startedAt: z.string() });
const PORT = z.int().min(1).max(65_535);

const TEMPORAL = z.object({
  /** null after an orderly stop. */
  process: PROCESS.nullable(),
  port: PORT,
  uiPort: PORT,
  dataFile: z.string(),
  binary: z.string(),
});

const POSTGRES = z.object({
  process: PROCESS.nullable(),
  port: PORT,
  dataDir: z.string(),
  /** Version of the binaries that wrote the data. */
  version: z.string(),
});

const RECORD = z.object({
  version: z.literal(1),
  temporal: TEMPORAL.nullable(),
  postgres: POSTGRES.nullable(),
});

export type TemporalRecord = z.infer<typeof TEMPORAL>;
export type PostgresRecord = z.infer<typeof POSTGRES>;
/** What `stack.json` in the home folder holds: the two processes, where they listen, where their data is. */
export type StackRecord = z.infer<typeof RECORD>;

const EMPTY: StackRecord = { version: 1, temporal: null, postgres: null };

function recordPath(home: string): string {
  return join(home, 'stack.json');
}

/**
 * The record of the last start; an empty one when there is none. A file that cannot be read as one (torn by a full
 * disk, or of another version) counts as none and is said: running processes are then recognised by their data folder.
 */
export function readStackRecord(home: string, log: (line: string) => void): StackRecord {
  let text: string;
  try {
    text = readFileSync(recordPath(home), 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return EMPTY;
    throw describeFileError(error, recordPath(home));
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = null;
  }
  const parsed = RECORD.safeParse(value);
  if (parsed.success) return parsed.data;
  log(`${recordPath(home)} is not readable as a stack record; looking for running processes instead`);
  return EMPTY;
}

/** Replaces the record as a whole: readers see the old one or the new one. */
export function writeStackRecord(home: string, record: StackRecord): void {
  const path = recordPath(home);
  try {
    writeFileSync(`${path}.new`, `${JSON.stringify(record, null, 2)}\n`, { mode: 0o644 });
    renameSync(`${path}.new`, path);
  } catch (error) {
    throw describeFileError(error, path);
  }
}
