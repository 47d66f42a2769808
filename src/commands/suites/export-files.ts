import { once } from 'node:events';
import { createWriteStream, existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { finished } from 'node:stream/promises';
import { UserError } from '../../core/errors.ts';
import { loadSuite } from '../../datasets/load-suite.ts';
import type { CommandContext } from '../context.ts';
import { withDatabase } from '../database.ts';

/** Flags of `assay export`, as commander hands them over. */
export interface ExportFlags {
  suite?: string;
  out: string;
  force?: boolean;
  json?: boolean;
}

const CASES = 'cases.jsonl';
const TRAJECTORIES = 'trajectories.jsonl';

/** Writes the cases of a suite in canonical form. @throws InputError when the suite does not load */
export async function exportSuite(context: CommandContext, flags: ExportFlags): Promise<void> {
  const { cases } = await loadSuite(flags.suite ?? '', { env: context.env, cwd: context.cwd });
  await prepare(context, flags, [CASES]);
  const count = await writeJsonLines(target(context, flags, CASES), cases);
  tell(context, flags, { cases: count });
}

/** Writes cases and trajectories of a stored evaluation. @throws UserError when there is none of the id */
export async function exportEvaluation(context: CommandContext, id: string, flags: ExportFlags): Promise<void> {
  await withDatabase(context, async ({ db }) => {
    const [{ resolveEvaluation }, { streamCaseContents, streamTrajectories }] = await Promise.all([
      import('../stored/resolve-id.ts'),
      import('../../db/export-rows.ts'),
    ]);
    const row = await resolveEvaluation(db, id);
    await prepare(context, flags, [CASES, TRAJECTORIES]);
    const cases = await writeJsonLines(target(context, flags, CASES), streamCaseContents(db, row.id));
    const trajectories = await writeJsonLines(target(context, flags, TRAJECTORIES), streamTrajectories(db, row.id));
    tell(context, flags, { evaluation: row.id, cases, trajectories });
  });
}

async function prepare(context: CommandContext, flags: ExportFlags, names: readonly string[]): Promise<void> {
  const present = names.filter((name) => existsSync(target(context, flags, name)));
  if (present.length > 0 && flags.force !== true) {
    throw new UserError(`${flags.out} already has ${present.join(', ')}`, {
      hint: 'Nothing was written. Name another folder, or overwrite with --force.',
    });
  }
  try {
    await mkdir(path.resolve(context.cwd, flags.out), { recursive: true });
  } catch (error) {
    throw unwritable(flags.out, error);
  }
}

function target(context: CommandContext, flags: ExportFlags, name: string): string {
  return path.resolve(context.cwd, flags.out, name);
}

/** One JSON value a line, as many as there are: nothing is held. Returns how many were written. */
async function writeJsonLines(file: string, values: Iterable<unknown> | AsyncIterable<unknown>): Promise<number> {
  const stream = createWriteStream(file);
  const done = finished(stream);
  done.catch(() => undefined); // awaited below; a failure before that must not count as unhandled
  let count = 0;
  try {
    for await (const value of values) {
      count += 1;
      if (!stream.write(`${JSON.stringify(value)}\n`) && !stream.destroyed) await once(stream, 'drain');
    }
    stream.end();
    await done;
  } catch (error) {
    stream.destroy();
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
    throw unwritable(file, error);
  }
  return count;
}

function unwritable(place: string, error: unknown): UserError {
  const cause = error instanceof Error ? error.message : String(error);
  return new UserError(`${place} cannot be written: ${cause}`, { hint: 'Choose another folder with --out.', cause });
}

function tell(context: CommandContext, flags: ExportFlags, counts: Record<string, number | string>): void {
  if (flags.json === true) {
    context.stdout(`${JSON.stringify({ out: flags.out, ...counts })}\n`);
    return;
  }
  const { cases, trajectories } = counts;
  const more = trajectories === undefined ? '' : `, ${trajectories} trajectories`;
  context.stdout(`${cases} cases${more} → ${flags.out}\n`);
}
