import type { Command } from 'commander';
import { EXIT, UserError } from '../../core/errors.ts';
import type { CommandContext } from '../context.ts';
import { type Database, withDatabase } from '../database.ts';

const HELP = `
Examples:
  $ assay delete ops-20260318-0200-a1b2c3 --yes

Removes an evaluation with its cases, trials, trajectories, scores and results. It cannot be brought back.
Exit codes: 0 deleted, 2 refused (running, pinned as a baseline, or not confirmed), 4 Postgres cannot be used.`;

/** `assay delete`: removes an evaluation that is neither running nor a baseline. */
export function registerDelete(program: Command, context: CommandContext): void {
  program
    .command('delete')
    .argument('<id>', 'evaluation')
    .description('remove an evaluation and everything of it')
    .option('--yes', 'do not ask')
    .option('--json', 'print what was deleted as one JSON object')
    .addHelpText('after', HELP)
    .action(async (id: string, flags: { yes?: boolean; json?: boolean }) =>
      withDatabase(context, async (database) => remove(context, database, id, flags)),
    );
}

async function remove(
  context: CommandContext,
  { db }: Database,
  id: string,
  flags: { yes?: boolean; json?: boolean },
): Promise<void> {
  const [{ resolveEvaluation }, { baselinesOf }, { deleteEndedEvaluation }] = await Promise.all([
    import('../stored/resolve-id.ts'),
    import('../../db/baselines.ts'),
    import('../../db/evaluations.ts'),
  ]);
  const row = await resolveEvaluation(db, id);
  if (row.status === 'running' || row.status === 'paused') {
    throw new UserError(`Evaluation ${row.id} is ${row.status}.`, {
      hint: `End it first: \`assay cancel ${row.id}\`.`,
    });
  }
  const pinned = await baselinesOf(db, row.id);
  const [first] = pinned;
  if (first !== undefined) {
    const labels = pinned.map((one) => one.label).join(', ');
    throw new UserError(`Evaluation ${row.id} is the baseline ${labels} of ${row.suite}.`, {
      hint: `Pin another one first: \`assay baseline set OTHER_ID --label ${first.label}\`.`,
    });
  }
  const what = `${row.id} (${row.suite}, ${row.planned_trials} trials)`;
  if (flags.yes !== true && !(await confirmed(context, `Delete ${what}? It cannot be brought back. [y/N] `))) {
    throw new UserError(`${row.id} was not deleted.`, { exitCode: EXIT.usage, hint: 'Add --yes to confirm.' });
  }
  // While the question was open somebody may have resumed it.
  if (!(await deleteEndedEvaluation(db, row.id))) {
    throw new UserError(`Evaluation ${row.id} was not deleted: it was resumed, or deleted, in the meantime.`, {
      hint: `\`assay status ${row.id}\` shows where it stands.`,
    });
  }
  context.stdout(flags.json === true ? `${JSON.stringify({ deleted: row.id })}\n` : `deleted ${what}\n`);
}

/** Asks on a terminal; without one nothing is confirmed. */
async function confirmed(context: CommandContext, question: string): Promise<boolean> {
  if (!context.isTty || !process.stdin.isTTY) return false;
  const { createInterface } = await import('node:readline/promises');
  const prompt = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await prompt.question(question)).trim());
  } finally {
    prompt.close();
  }
}
