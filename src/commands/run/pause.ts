import type { Command } from 'commander';
import { UserError } from '../../core/errors.ts';
import type { CommandContext } from '../context.ts';
import type { Session } from '../session.ts';

const HELP = `
Examples:
  $ assay pause latest
  $ assay unpause latest

Trials in flight are finished, no new ones are started. A paused evaluation stays so over restarts.
Exit codes: 0 done (or so already), 2 no such evaluation or one that has ended, 4 Temporal or Postgres cannot be used.`;

/** `assay pause`: starts no further trials of an evaluation until `unpause`. */
export function registerPause(program: Command, context: CommandContext): void {
  register(program, context, true);
}

/** Registers `pause` or its opposite. */
export function register(program: Command, context: CommandContext, paused: boolean): void {
  program
    .command(paused ? 'pause' : 'unpause')
    .argument('<id>', 'evaluation')
    .description(paused ? 'start no further trials of an evaluation' : 'let a paused evaluation go on')
    .option('--json', 'print its state as one JSON object')
    .addHelpText('after', HELP)
    .action(async (id: string, flags: { json?: boolean }) => {
      const { withSession } = await import('../session.ts');
      await withSession(context, (session) => switchPause(context, session, id, { paused, json: flags.json === true }));
    });
}

async function switchPause(
  context: CommandContext,
  session: Session,
  id: string,
  wanted: { paused: boolean; json: boolean },
): Promise<void> {
  const [{ resolveEvaluation }, { findEvaluation, setPaused }, { tellWorkflow }] = await Promise.all([
    import('../stored/resolve-id.ts'),
    import('../../db/evaluations.ts'),
    import('./tell-workflow.ts'),
  ]);
  const row = await resolveEvaluation(session.db, id);
  if (row.status !== 'running' && row.status !== 'paused') {
    throw new UserError(`Evaluation ${row.id} has ended: it is ${row.status}.`, {
      hint: row.status === 'completed' ? `\`assay report ${row.id}\` shows it.` : `\`assay resume ${row.id}\` goes on.`,
    });
  }
  await setPaused(session.db, row.id, wanted.paused);
  // Also when the row said so already: the signal may have been lost with the process that sent it.
  const told = await tellWorkflow(session.client, row.id, 'pause', wanted.paused);
  const now = (await findEvaluation(session.db, row.id))?.status ?? row.status;
  if (wanted.json) context.stdout(`${JSON.stringify({ evaluation_id: row.id, status: now, workflow: told })}\n`);
  else context.stdout(pauseText(row.id, wanted.paused, told));
}

function pauseText(id: string, paused: boolean, told: boolean): string {
  if (!told) {
    const state = paused ? 'is marked paused' : 'is no longer paused';
    return `${id} ${state}, but nothing runs it now\n  → assay resume ${id}    go on with it\n`;
  }
  if (paused) return `${id} is paused: trials in flight are finished\n  → assay unpause ${id}    let it go on\n`;
  return `${id} goes on\n  → assay status ${id}    progress\n`;
}
