import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { EXIT, UserError } from '../../core/errors.ts';
import type { Json } from '../../core/json.ts';
import { labelOfScore, LABEL_SCALES, scaleText } from '../../core/label-scale.ts';
import type { JudgeDimension } from '../../core/suite.ts';
import { type JudgeScore, loadJudgeScores, type ReviewSubject, streamReviewSubjects } from '../../db/review-rows.ts';
import { maskSecrets } from '../../report/clean.ts';
import { plural } from '../../report/format.ts';
import { type JudgedTrial, reviewSample } from '../../statistics/review-sample.ts';
import type { CommandContext } from '../context.ts';
import { withDatabase } from '../database.ts';
import { resolveEvaluation } from '../stored/resolve-id.ts';

/** Flags of `assay review`, as commander hands them over. */
export interface ReviewFlags {
  out: string;
  share: number;
  seed: number;
  force?: boolean;
  json?: boolean;
}

/** Writes a sample of the judge's verdicts for people to label. */
export async function writeReview(context: CommandContext, id: string, flags: ReviewFlags): Promise<void> {
  await withDatabase(context, async ({ db }) => {
    const row = await resolveEvaluation(db, id);
    const scores = await loadJudgeScores(db, row.id);
    const verdicts = scores.flatMap(verdictOf);
    if (verdicts.length === 0) {
      const asked = scores.length === 0 ? 'The judge was not asked' : 'The judge gave no verdict';
      throw new UserError(`${asked} in ${row.id}: there is nothing to label.`, {
        hint: 'A suite with `judge:` and cases that need one has verdicts: docs/judge.md.',
        exitCode: EXIT.incomplete,
      });
    }
    const sample = reviewSample(verdicts, { share: flags.share, seed: flags.seed, salt: row.id });
    const lines: string[] = [];
    for await (const subject of streamReviewSubjects(db, row.id, sample)) lines.push(`${lineOf(subject)}\n`);
    await write(context, flags, lines.join(''));
    tell(context, flags, { evaluation: row.id, verdicts: verdicts.length, sampled: lines.length });
  });
}

function verdictOf(score: JudgeScore): JudgedTrial[] {
  const dimension = Object.keys(LABEL_SCALES).find((name): name is JudgeDimension => name === score.dimension);
  const verdict = dimension === undefined ? null : labelOfScore(dimension, score);
  return verdict === null ? [] : [{ ...score, verdict }];
}

/** One line to label. The judge's verdict is not in it: who knows it follows it. */
function lineOf({ case_id, trial_index, dimension, evalCase, trajectory }: JudgedTrial & ReviewSubject): string {
  const { input, messages, turns, context, expected, rubric } = evalCase;
  const { answer, tool_calls: calls, plan, retrieved_doc_ids: documents, final_status: ended } = trajectory;
  const shown = {
    asked: { input, messages, turns, context },
    expected,
    rubric,
    answer,
    tool_calls: calls.map(({ tool, args, raw_arguments: raw, result, error }) => ({
      tool,
      args: args ?? raw,
      ...(error === null ? { result } : { error }),
    })),
    ...(plan === null ? {} : { plan }),
    ...(documents === null ? {} : { retrieved_doc_ids: documents }),
    final_status: ended,
  };
  const scale = scaleText(LABEL_SCALES[dimension as JudgeDimension]);
  const masked = JSON.parse(JSON.stringify(shown), (_key, value: Json) =>
    typeof value === 'string' ? maskSecrets(value) : value,
  ) as object;
  return JSON.stringify({ caseId: case_id, trial: trial_index, dimension, label: '', reviewer: '', scale, ...masked });
}

async function write(context: CommandContext, flags: ReviewFlags, text: string): Promise<void> {
  try {
    // Labels that somebody wrote must not be lost to a second call.
    await writeFile(path.resolve(context.cwd, flags.out), text, { flag: flags.force === true ? 'w' : 'wx' });
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === undefined) throw error;
    throw code === 'EEXIST'
      ? new UserError(`${flags.out} is there already`, { hint: 'Name another file with --out, or --force.' })
      : new UserError(`${flags.out} cannot be written: ${(error as Error).message}`, {
          hint: 'Name another file with --out.',
          cause: error,
        });
  }
}

function tell(
  context: CommandContext,
  flags: ReviewFlags,
  counts: { evaluation: string; verdicts: number; sampled: number },
): void {
  if (flags.json === true) {
    context.stdout(`${JSON.stringify({ ...counts, out: flags.out, share: flags.share, seed: flags.seed })}\n`);
    return;
  }
  const { evaluation, verdicts, sampled } = counts;
  context.stdout(
    `${sampled} of ${plural(verdicts, 'verdict')} → ${flags.out}\n` +
      `Write label and reviewer into its lines, then: assay calibrate ${evaluation} --labels ${flags.out}\n`,
  );
}
