import { didYouMean } from '../../core/did-you-mean.ts';
import { EXIT, InputError, UserError } from '../../core/errors.ts';
import type { Problem } from '../../core/errors.ts';
import { categoryOf, LABEL_SCALES, labelScale, scaleText } from '../../core/label-scale.ts';
import { readLabels } from '../../datasets/read-labels.ts';
import type { LabelRow } from '../../datasets/read-labels.ts';
import type { Db } from '../../db/connect.ts';
import { saveHumanLabels } from '../../db/human-labels.ts';
import type { CommandContext } from '../context.ts';

/**
 * Takes a file of labels into the database, all or none.
 * @throws InputError with every line that cannot be a label of this evaluation
 */
export async function storeLabels(
  context: CommandContext,
  db: Db,
  evaluationId: string,
  from: { file: string; reviewer: string | undefined },
): Promise<void> {
  const { rows, blank } = await readLabels(from.file, { cwd: context.cwd, reviewer: from.reviewer });
  const problems = rows.flatMap(problemsOf);
  if (problems.length > 0) throw new InputError(problems);
  if (rows.length === 0) {
    throw new UserError(`${from.file} holds no label${blank > 0 ? `: all ${blank} are still empty` : ''}.`, {
      hint: 'Write a "label" into its lines.',
      exitCode: EXIT.incomplete,
    });
  }
  const labels = rows.map(({ case_id, trial, dimension, reviewer, label }) => ({
    case_id,
    trial_index: trial,
    dimension,
    reviewer,
    label: String(label).trim(),
  }));
  const unknown = await saveHumanLabels(db, evaluationId, labels);
  if (unknown.length > 0) throw new InputError(unknown.flatMap((at) => strangers(rows[at], evaluationId)));
  const left = blank === 0 ? '' : `; ${blank} ${blank === 1 ? 'line has' : 'lines have'} no label yet`;
  context.stderr(`${rows.length} ${rows.length === 1 ? 'label' : 'labels'} stored${left}\n`);
}

function problemsOf(row: LabelRow): Problem[] {
  const scale = labelScale(row.dimension);
  const problem = (message: string): Problem => ({ severity: 'error', ...row.place, message });
  if (scale === null) {
    const known = Object.keys(LABEL_SCALES);
    const meant = didYouMean(row.dimension, known);
    return [problem(`"${row.dimension}" is no dimension of the judge${meant}; known: ${known.join(', ')}`)];
  }
  const found: Problem[] = [];
  if (row.reviewer === '') found.push(problem('expected a "reviewer", or --reviewer for lines that name nobody'));
  if (categoryOf(row.label, scale) === null) {
    found.push(problem(`label "${row.label}" of ${row.dimension}: expected ${scaleText(scale)}`));
  }
  return found;
}

function strangers(row: LabelRow | undefined, evaluationId: string): Problem[] {
  if (row === undefined) return [];
  const message = `evaluation ${evaluationId} has no trajectory of case "${row.case_id}", trial ${row.trial}`;
  return [{ severity: 'error', ...row.place, message }];
}
