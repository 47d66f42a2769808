import type { Command } from 'commander';
import type { CommandContext } from '../context.ts';

const HELP = `
Examples:
  $ assay cancel latest

Model calls end within about a second. What is finished is kept, with a report over it; \`assay resume\` goes on later.
Exit codes: 0 canceled (or ended already), 2 no such evaluation, 4 Temporal or Postgres cannot be used, or no worker
carried the request out in time.`;

/** `assay cancel`: ends an evaluation, keeping what is done. */
export function registerCancel(program: Command, context: CommandContext): void {
  program
    .command('cancel')
    .argument('<id>', 'evaluation')
    .description('end an evaluation; what is finished is kept')
    .option('--json', 'print its state as one JSON object')
    .addHelpText('after', HELP)
    .action(async (id: string, flags: { json?: boolean }) => {
      const [{ withSession }, { cancelEvaluation }] = await Promise.all([
        import('../session.ts'),
        import('./cancel-evaluation.ts'),
      ]);
      await withSession(context, (session) => cancelEvaluation(context, session, id, flags));
    });
}
