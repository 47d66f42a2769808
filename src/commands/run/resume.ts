import type { Command } from 'commander';
import type { CommandContext } from '../context.ts';
import type { ContinueFlags } from './continue-evaluation.ts';
import { dollars, whole } from '../flag-parsers.ts';

const HELP = `
Examples:
  $ assay resume latest
  $ assay resume ops-20260318 --budget-usd 5            a budget stop goes on with more
  $ assay resume ops-20260318 --rerun-changed           after an edit: only what it touches runs again
  $ assay resume ops-20260318 --as-snapshot             as if nothing had been edited

Finished trials are never run again. Works from Postgres alone when Temporal's own database is lost.
When suite, cases or agent changed since, it says what, and refuses until you choose one of the last two.
Exit codes: as \`assay run\`; 2 also when something changed and neither choice was made.`;

/** `assay resume`: goes on with what an evaluation lacks, or follows it where it runs. */
export function registerResume(program: Command, context: CommandContext): void {
  addContinueOptions(
    program
      .command('resume')
      .argument('<id>', 'evaluation')
      .description('go on with what an evaluation lacks, or follow it where it runs'),
  )
    .addHelpText('after', HELP)
    .action(async (id: string, flags: ContinueFlags) => {
      const [{ withSession }, { resumeEvaluation }] = await Promise.all([
        import('../session.ts'),
        import('./continue-evaluation.ts'),
      ]);
      await withSession(context, (session) => resumeEvaluation(context, session, id, flags));
    });
}

/** The options `resume` and `retry` share. */
export function addContinueOptions(command: Command): Command {
  return command
    .option('--budget-usd <dollars>', 'new budget of the whole evaluation, what is spent included', dollars)
    .option('--concurrency <n>', 'trials in flight from now on', whole(1))
    .option('--rerun-changed', 'take suite, cases and agent as they are now; run again what that touches')
    .option('--as-snapshot', 'go on with suite, cases and agent as they were stored')
    .option('--detach', 'start it and return')
    .option('--no-worker', 'run no worker here: leave the work to `assay worker` processes')
    .option('--json', 'print the report as JSON on standard output');
}
