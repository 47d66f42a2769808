import type { Command } from 'commander';
import { EXIT, UserError } from '../../core/errors.ts';
import type { Db } from '../../db/connect.ts';
import type { EvaluationRow } from '../../db/evaluations.ts';
import type { SegmentChange } from '../../core/trajectory.ts';
import type { CompareModel } from '../../report/compare-text.ts';
import type { CommandContext } from '../context.ts';
import { withDatabase } from '../database.ts';
import { whole } from '../flag-parsers.ts';
import type { CompareFlags } from './compare-flags.ts';

const HELP = `
Cases are compared where both evaluations have them with equal content; changed, new and removed ones are listed.
--pairwise asks the judge of the second evaluation which of both answers is better, in both orders: where the orders
disagree, it is a tie. Verdicts are kept: an interrupted comparison goes on where it was.

Examples:
  $ assay compare ops-20260318 latest                 deltas with intervals, cases that changed sides
  $ assay compare baseline latest                     with the one pinned; baseline:release-2 for another label
  $ assay compare ops-20260318 latest --pairwise
  $ assay compare ops-20260318 latest --json

Exit codes: 0 compared, whatever it says (\`assay gate\` decides); 2 no such evaluation, or no judge; 3 not finished yet;
4 Postgres or the judge's endpoint cannot be used.`;

/** `assay compare`: two evaluations side by side, and answer by answer. */
export function registerCompare(program: Command, context: CommandContext): void {
  program
    .command('compare')
    .argument('<a>', 'evaluation before; `baseline` or `baseline:LABEL`: the one pinned for the suite of <b>')
    .argument('<b>', 'evaluation now')
    .description(
      'compare two evaluations: deltas with intervals, cases that changed sides, answers judged side by side',
    )
    .option('--pairwise', 'ask the judge which of both answers is better, in both orders')
    .option('--limit <n>', 'with --pairwise: only the first n cases', whole(1))
    .option('--concurrency <n>', "with --pairwise: pairs in flight; default: the suite's", whole(1))
    .option('--no-judge-cache', 'with --pairwise: ask the judge anew, and keep no verdict')
    .option('--json', 'print the comparison as one JSON object')
    .addHelpText('after', HELP)
    .action(async (a: string, b: string, flags: CompareFlags) =>
      withDatabase(context, async (database) => {
        const { db } = database;
        const now = await finished(db, b);
        const before = await finished(db, (await baselineNamed(db, a, now.suite)) ?? a);
        if (before.id === now.id) throw new UserError(`${a} and ${b} are the same evaluation: ${now.id}`);
        const { compareRows } = await import('../../results/compare-with-baseline.ts');
        const comparison = await compareRows(db, before, now);
        const pairwise =
          flags.pairwise === true
            ? await (await import('./compare-pairwise.ts')).comparePairwise(context, database, { before, now, flags })
            : null;
        await print(
          context,
          { a: before.id, b: now.id, comparison, prompt: await promptChanges(before, now), pairwise },
          flags.json === true,
        );
      }),
    );
}

/** What changed in the prompt of the built-in agent; of other agents it is not known. */
async function promptChanges(before: EvaluationRow, now: EvaluationRow): Promise<SegmentChange[]> {
  const [old, agent] = [before.definition.agent, now.definition.agent];
  if (old.type !== 'openai' || agent.type !== 'openai') return [];
  const [{ assemblePrompt }, { diffSegments }] = await Promise.all([
    import('../../agents/openai/prompt-segments.ts'),
    import('../../scorers/prompt-assembly/diff-segments.ts'),
  ]);
  return diffSegments(assemblePrompt({}, old, null), assemblePrompt({}, agent, null));
}

/**
 * The evaluation pinned under `baseline` (label main) or `baseline:LABEL`; null: the name means no baseline.
 * @throws UserError when the suite has none under the label.
 */
async function baselineNamed(db: Db, name: string, suite: string): Promise<string | null> {
  const label = name === 'baseline' ? 'main' : /^baseline:(.*)$/s.exec(name)?.[1];
  if (label === undefined) return null;
  const { findBaseline, listBaselines } = await import('../../db/baselines.ts');
  const pinned = await findBaseline(db, suite, label);
  if (pinned !== null) return pinned.evaluation_id;
  const labels = (await listBaselines(db, suite)).map((row) => row.label);
  throw new UserError(`Suite ${suite} has no baseline "${label}".`, {
    hint: labels.length === 0 ? 'Pin one with `assay baseline set ID`.' : `It has: ${labels.join(', ')}.`,
  });
}

/** The evaluation, its numbers computed. */
async function finished(db: Db, name: string): Promise<EvaluationRow> {
  const [{ resolveEvaluation }, { resultOf }] = await Promise.all([
    import('../stored/resolve-id.ts'),
    import('../stored/settle.ts'),
  ]);
  const row = await resolveEvaluation(db, name);
  if (row.status === 'running' || row.status === 'paused') {
    throw new UserError(`Evaluation ${row.id} is not finished: it is ${row.status}.`, {
      exitCode: EXIT.incomplete,
      hint: `\`assay resume ${row.id}\` follows it to its end.`,
    });
  }
  await resultOf(db, row);
  return row;
}

async function print(context: CommandContext, model: CompareModel, json: boolean): Promise<void> {
  if (json) {
    context.stdout(`${JSON.stringify({ schema: 'assay.compare/1', ...model }, null, 2)}\n`);
    return;
  }
  const [{ compareText }, { createStyle }, { layoutOf }] = await Promise.all([
    import('../../report/compare-text.ts'),
    import('../../report/style.ts'),
    import('../run/layout-of.ts'),
  ]);
  const { width, color } = layoutOf(context);
  context.stdout(compareText(model, width, createStyle(color)));
}
