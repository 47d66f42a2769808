import type { Command } from 'commander';
import { EXIT, UserError } from '../../core/errors.ts';
import type { Db } from '../../db/connect.ts';
import type { EvaluationRow } from '../../db/evaluations.ts';
import type { CommandContext } from '../context.ts';
import { withDatabase } from '../database.ts';
import { ExitSignal } from '../exit-signal.ts';
import type { Judgement } from '../stored/settle.ts';

interface GateFlags {
  baseline?: string;
  save?: boolean;
  json?: boolean;
}

const HELP = `
Examples:
  $ assay gate latest && deploy
  $ assay gate latest --baseline release-2     against another baseline

Gates are evaluated again from stored rows, against the baseline as it is pinned now; nothing is run. Nothing is stored
either, unless --save is given: then reports and SQL say the same as this command.
Exit codes: 0 gates passed, 1 a gate failed, 2 no such evaluation, 3 incomplete or inconclusive, 4 stopped by
infrastructure, or Postgres cannot be used.`;

/** `assay gate`: the gates of a stored evaluation once more; the verdict is the exit code. */
export function registerGate(program: Command, context: CommandContext): void {
  program
    .command('gate')
    .argument('<id>', 'evaluation')
    .description('evaluate the gates of an evaluation again, baseline included; the exit code is the verdict')
    .option('--baseline <label>', "compare with the baseline of this label; default: the evaluation's own")
    .option('--save', 'store comparison, gates and verdict as those of the evaluation')
    .option('--json', 'print gates and verdict as one JSON object')
    .addHelpText('after', HELP)
    .action(async (id: string, flags: GateFlags) =>
      withDatabase(context, async ({ db }) => {
        const { resolveEvaluation } = await import('../stored/resolve-id.ts');
        const row = await resolveEvaluation(db, id);
        refuseUnfinished(row);
        const judgement = await judge(db, row, flags);
        if (flags.json === true) context.stdout(gateJson(row, judgement));
        else context.stdout(await gateText(context, row, judgement));
        throw new ExitSignal(judgement.verdict.exit_code);
      }),
    );
}

function refuseUnfinished(row: EvaluationRow): void {
  if (row.status !== 'running' && row.status !== 'paused') return;
  throw new UserError(`Evaluation ${row.id} is not finished: it is ${row.status}.`, {
    exitCode: EXIT.incomplete,
    hint: `\`assay resume ${row.id}\` follows it to its end.`,
  });
}

async function judge(db: Db, row: EvaluationRow, flags: GateFlags): Promise<Judgement> {
  const [{ judgeNow, saveJudgement }, { findBaseline }, { saveVerdict }] = await Promise.all([
    import('../stored/settle.ts'),
    import('../../db/baselines.ts'),
    import('../../db/save-verdict.ts'),
  ]);
  const label = flags.baseline;
  if (label !== undefined && (await findBaseline(db, row.suite, label)) === null) {
    throw new UserError(`Suite ${row.suite} has no baseline "${label}".`, {
      hint: `\`assay baseline list\` shows what there is; \`assay baseline set ID --label ${label}\` pins one.`,
    });
  }
  const judgement = await judgeNow(db, row, label);
  if (flags.save === true) {
    await saveJudgement(db, row, judgement);
    await saveVerdict(db, row.id, judgement.verdict);
  }
  return judgement;
}

function gateJson(row: EvaluationRow, { comparison, gates, verdict }: Judgement): string {
  const baseline = comparison === null ? null : comparison.baseline_evaluation_id;
  const value = { evaluation_id: row.id, exit_code: verdict.exit_code, verdict: verdict.summary, baseline, gates };
  return `${JSON.stringify(value, null, 2)}\n`;
}

async function gateText(context: CommandContext, row: EvaluationRow, judgement: Judgement): Promise<string> {
  const [{ gateLines }, { createStyle }, { layoutOf }] = await Promise.all([
    import('../../report/text-tables.ts'),
    import('../../report/style.ts'),
    import('../run/layout-of.ts'),
  ]);
  const { width, color } = layoutOf(context);
  const against = judgement.comparison === null ? '' : `, against ${judgement.comparison.baseline_evaluation_id}`;
  const lines = gateLines(judgement, width, createStyle(color));
  const { summary, exit_code } = judgement.verdict;
  return `${row.id}${against}\n${lines.join('\n')}\n${summary} (exit code ${exit_code})\n`;
}
