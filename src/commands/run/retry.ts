import type { Command } from 'commander';
import type { CommandContext } from '../context.ts';
import type { ContinueFlags } from './continue-evaluation.ts';
import { addContinueOptions } from './resume.ts';

const HELP = `
Examples:
  $ assay retry latest                     errored and unscored trials once more
  $ assay retry latest --failed            failed ones too

What these trials had (trajectory, scores, model calls) is removed, and they run anew; all others are kept.
Exit codes: as \`assay run\`; 2 also while it runs, and for a baseline.`;

/** `assay retry`: runs again the trials of an evaluation that have no verdict. */
export function registerRetry(program: Command, context: CommandContext): void {
  addContinueOptions(
    program
      .command('retry')
      .argument('<id>', 'evaluation')
      .description('run again the trials that have no verdict (errored, unscored)')
      .option('--failed', 'also the failed ones')
      .option('--no-judge-cache', 'ask the judge anew: take no verdict of an earlier evaluation, and keep none'),
  )
    .addHelpText('after', HELP)
    .action(async (id: string, flags: ContinueFlags & { failed?: boolean }) => {
      const [{ withSession }, { retryEvaluation }] = await Promise.all([
        import('../session.ts'),
        import('./continue-evaluation.ts'),
      ]);
      await withSession(context, (session) => retryEvaluation(context, session, id, flags));
    });
}
