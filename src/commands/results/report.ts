import { type Command, Option } from 'commander';
import { UserError } from '../../core/errors.ts';
import type { Db } from '../../db/connect.ts';
import type { EvaluationRow } from '../../db/evaluations.ts';
import type { ReportModel } from '../../report/report-model.ts';
import type { CommandContext } from '../context.ts';
import { withDatabase } from '../database.ts';
import { listOf } from '../flag-parsers.ts';

const REPORT_FORMATS = ['text', 'json'] as const;
type ReportFormat = (typeof REPORT_FORMATS)[number];

const FILES: Record<ReportFormat, string> = { text: 'report.txt', json: 'report.json' };

interface ReportFlags {
  format: ReportFormat[];
  out?: string;
  json?: boolean;
}

const HELP = `
Examples:
  $ assay report latest                                   on the terminal
  $ assay report latest --format json > report.json
  $ assay report latest --format text,json --out reports  reports/report.txt and reports/report.json

The JSON report holds every case; its key names are stable within a schema version (key \`schema\`).
Exit codes: 0 written, 2 no such evaluation or wrong usage, 3 not finished yet, 4 Postgres cannot be used.
The verdict is
\`assay gate\`'s business.`;

/** `assay report`: the report of a stored evaluation, in one or more formats. */
export function registerReport(program: Command, context: CommandContext): void {
  program
    .command('report')
    .argument('<id>', 'evaluation')
    .description('write the report of an evaluation, from what is stored')
    .addOption(
      new Option('--format <formats>', `${REPORT_FORMATS.join(', ')}; several separated by commas, with --out`)
        .argParser(listOf(REPORT_FORMATS))
        .default(['text'], 'text'),
    )
    .option('--out <folder>', 'write files into this folder instead of standard output')
    .option('--json', 'the same as --format json')
    .addHelpText('after', HELP)
    .action(async (id: string, flags: ReportFlags) => {
      const formats: ReportFormat[] = flags.json === true ? ['json'] : flags.format;
      if (formats.length > 1 && flags.out === undefined) {
        throw new UserError('Several formats do not fit on standard output.', {
          hint: 'Add --out FOLDER, or ask for one format.',
        });
      }
      await withDatabase(context, async ({ db }) => {
        const [{ resolveEvaluation }, { storedReport }] = await Promise.all([
          import('../stored/resolve-id.ts'),
          import('../stored/stored-report.ts'),
        ]);
        const row = await resolveEvaluation(db, id);
        const report = await storedReport(db, row);
        if (flags.out !== undefined) await writeFiles(context, db, { row, report, formats, folder: flags.out });
        else for (const format of formats) await print(context, db, row, report, format);
      });
    });
}

async function print(
  context: CommandContext,
  db: Db,
  row: EvaluationRow,
  report: ReportModel,
  format: ReportFormat,
): Promise<void> {
  const { layoutOf } = await import('../run/layout-of.ts');
  for await (const piece of pieces(db, row, report, format, layoutOf(context))) context.stdout(piece);
}

async function writeFiles(
  context: CommandContext,
  db: Db,
  wanted: { row: EvaluationRow; report: ReportModel; formats: readonly ReportFormat[]; folder: string },
): Promise<void> {
  const [{ createWriteStream }, { mkdir }, path, { pipeline }] = await Promise.all([
    import('node:fs'),
    import('node:fs/promises'),
    import('node:path'),
    import('node:stream/promises'),
  ]);
  const folder = path.resolve(context.cwd, wanted.folder);
  try {
    await mkdir(folder, { recursive: true });
    for (const format of wanted.formats) {
      const file = path.join(folder, FILES[format]);
      const text = pieces(db, wanted.row, wanted.report, format, { width: 100, color: false });
      await pipeline(text, createWriteStream(file));
      context.stdout(`${file}\n`);
    }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (!['EACCES', 'EROFS', 'ENOSPC', 'ENOTDIR', 'EEXIST', 'EPERM'].includes(code)) throw error;
    throw new UserError(`The report cannot be written to ${folder}: ${(error as Error).message}`, {
      hint: 'Choose another folder with --out.',
      cause: error,
    });
  }
}

/** A report in pieces, so that its length is bounded by nothing. */
async function* pieces(
  db: Db,
  row: EvaluationRow,
  report: ReportModel,
  format: ReportFormat,
  layout: { width: number; color: boolean },
): AsyncGenerator<string, void, void> {
  switch (format) {
    case 'text': {
      const { renderText } = await import('../../report/text.ts');
      yield renderText(report, layout);
      return;
    }
    case 'json': {
      const [{ renderJsonWithCases }, { streamCaseResults }] = await Promise.all([
        import('../../report/json.ts'),
        import('../../db/results.ts'),
      ]);
      yield* renderJsonWithCases(report, streamCaseResults(db, row.id));
    }
  }
}
