import { type Command, InvalidArgumentError } from 'commander';
import { EXIT, UserError } from '../../core/errors.ts';
import type { Calibration } from '../../core/calibration.ts';
import type { LabelRow } from '../../datasets/read-labels.ts';
import type { CommandContext } from '../context.ts';
import { withDatabase } from '../database.ts';
import { ExitSignal } from '../exit-signal.ts';

interface CalibrateFlags {
  labels?: string;
  reviewer?: string;
  scale?: string[];
  min: number;
  json?: boolean;
}

const HELP = `
Examples:
  $ assay calibrate latest --labels labels.jsonl    store labels, compare them with the judge's verdicts
  $ assay calibrate latest                          compare the labels that are stored
  $ assay calibrate --labels ratings.csv --scale 1,2,3,4     a file with both sides; no database

A line of labels: {"caseId": "refund-2", "trial": 1, "dimension": "answer_quality", "label": "pass", "reviewer": "lin"};
CSV has these as columns. With "judge" in every line the file stands for itself and ID is left out. Labels are words of
the dimension's scale (success, partial, failure; pass, fail) or its numbers (1 to 5).
Exit codes: 0 agreement reaches --min for each dimension, 1 it does not for one, 2 wrong input or no such evaluation,
3 nothing to compare, 4 Postgres cannot be used.`;

/** `assay calibrate`: how far the judge agrees with people. */
export function registerCalibrate(program: Command, context: CommandContext): void {
  program
    .command('calibrate')
    .argument('[id]', 'evaluation whose judge the labels are compared with')
    .description('compare human labels with the judge: agreement, kappa, confusion, and where they disagree')
    .option('--labels <file>', 'human labels to take in (.jsonl, .ndjson, .csv, .tsv)')
    .option('--reviewer <name>', 'who labelled the lines that name nobody')
    .option('--scale <categories>', "categories of dimensions that are not the judge's own, in their order", categories)
    .option('--min <share>', 'agreement below this needs work', share, 0.85)
    .option('--json', 'print everything as one JSON object')
    .addHelpText('after', HELP)
    .action(async (id: string | undefined, flags: CalibrateFlags) => {
      const calibration = id === undefined ? await ofFile(context, flags) : await ofEvaluation(context, id, flags);
      await print(context, id, calibration, flags);
      if (calibration.groups.every(({ labels, unscored }) => labels === unscored))
        throw new ExitSignal(EXIT.incomplete);
      if (calibration.groups.some((group) => group.needs_work)) throw new ExitSignal(EXIT.gateFailed);
    });
}

function categories(text: string): string[] {
  const names = text.split(',').map((name) => name.trim());
  if (names.length < 2 || names.includes('') || new Set(names.map((name) => name.toLowerCase())).size < names.length) {
    throw new InvalidArgumentError('Expected two or more different categories, separated by commas, such as 1,2,3,4.');
  }
  return names;
}

function share(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !(value >= 0 && value <= 1))
    throw new InvalidArgumentError('Expected a number from 0 to 1.');
  return value;
}

/** A file with both sides. */
async function ofFile(context: CommandContext, flags: CalibrateFlags): Promise<Calibration> {
  if (flags.labels === undefined) {
    throw new UserError('Name an evaluation, a file of labels, or both.', {
      hint: '`assay calibrate latest --labels labels.jsonl`, or `assay calibrate --labels FILE` where FILE has both sides.',
    });
  }
  const [{ readLabels }, { calibrate }] = await Promise.all([
    import('../../datasets/read-labels.ts'),
    import('../../statistics/calibration.ts'),
  ]);
  const { rows, blank } = await readLabels(flags.labels, { cwd: context.cwd, reviewer: flags.reviewer });
  requireRows(rows, blank, flags.labels);
  if (rows.every(({ judge }) => judge === undefined)) {
    throw new UserError(`${flags.labels} has no "judge" beside its labels.`, {
      hint: 'Name the evaluation whose judge they are to be compared with: `assay calibrate latest --labels FILE`.',
    });
  }
  const { checkLabels, scalesOf } = await import('./label-scales.ts');
  const { scales, found } = scalesOf(rows, flags.scale);
  checkLabels(rows, scales);
  if (found.length > 0) {
    const names = found.join(', ');
    context.stderr(
      `${names}: no scale declared, so categories are those found and none is nearer than another; see --scale\n`,
    );
  }
  const pairs = rows.map((row) => ({ ...row, human: row.label, judge: row.judge ?? null }));
  return calibrate(pairs, (dimension) => scales.get(dimension) ?? null, flags.min);
}

async function ofEvaluation(context: CommandContext, id: string, flags: CalibrateFlags): Promise<Calibration> {
  if (flags.scale !== undefined) {
    throw new UserError('--scale is for files that hold both sides.', {
      hint: 'The dimensions of an evaluation have their own scales (docs/statistics.md, "Human calibration").',
    });
  }
  return withDatabase(context, async ({ db }) => {
    const [{ resolveEvaluation }, { calibrateEvaluation }] = await Promise.all([
      import('../stored/resolve-id.ts'),
      import('../../results/calibrate-evaluation.ts'),
    ]);
    const row = await resolveEvaluation(db, id);
    if (flags.labels !== undefined) {
      const { storeLabels } = await import('./store-labels.ts');
      await storeLabels(context, db, row.id, { file: flags.labels, reviewer: flags.reviewer });
    }
    const calibration = await calibrateEvaluation(db, row.id, flags.min);
    if (calibration !== null) return calibration;
    throw new UserError(`Evaluation ${row.id} has no human labels yet.`, {
      hint: `Take some in: \`assay calibrate ${row.id} --labels FILE\`.`,
      exitCode: EXIT.incomplete,
    });
  });
}

function requireRows(rows: readonly LabelRow[], blank: number, file: string): void {
  if (rows.length > 0) return;
  throw new UserError(`${file} holds no label${blank > 0 ? `: all ${blank} are still empty` : ''}.`, {
    hint: 'Write a "label" into its lines.',
    exitCode: EXIT.incomplete,
  });
}

async function print(
  context: CommandContext,
  id: string | undefined,
  calibration: Calibration,
  flags: CalibrateFlags,
): Promise<void> {
  if (flags.json === true) {
    context.stdout(`${JSON.stringify(calibration, null, 2)}\n`);
    return;
  }
  const [{ renderCalibration }, { layoutOf }] = await Promise.all([
    import('../../report/calibration-text.ts'),
    import('../run/layout-of.ts'),
  ]);
  const title = id === undefined ? flags.labels : id;
  context.stdout(renderCalibration(calibration, { ...layoutOf(context), ...(title === undefined ? {} : { title }) }));
}
