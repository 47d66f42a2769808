import type { Command } from 'commander';
import type { CommandContext } from '../context.ts';
import { collect, dollars, whole } from '../flag-parsers.ts';
import type { RescoreFlags } from './rescore-flags.ts';

const HELP = `
The agent is not run: what it did, its tokens, time and money are those of the source. A new evaluation is stored that
names its source; gates, baseline and report are as for \`assay run\`. The source stays as it is.

Examples:
  $ assay rescore latest                        after an edit of rubric, expectations or judge
  $ assay rescore latest --judge-times 5        how much of the spread is the judge's, how much the agent's
  $ assay rescore ops-2026 --suite strict.yaml  with the cases, judge and gates of another suite file

A case whose question, tools, context or mock world changed since is refused: the trajectory answers another question.
Exit codes: as \`assay run\`.`;

/** `assay rescore`: scores and judges the stored trajectories of an evaluation again. */
export function registerRescore(program: Command, context: CommandContext): void {
  program
    .command('rescore')
    .argument('<id>', 'evaluation whose trajectories are scored')
    .description('score stored trajectories again with the suite as it is now; the agent is not run')
    .option('--suite <file>', 'suite file; default: that of the source, as it is now')
    .option('--as-snapshot', 'suite and cases as the source stored them')
    .option('--skip-changed', 'leave out cases that ask something else now')
    .option(
      '--judge-times <m>',
      "judge each trajectory so often; reports the judge's variance apart from the agent's",
      whole(1, 25),
    )
    .option('--no-judge-cache', 'ask the judge anew: take no verdict of an earlier evaluation, and keep none')
    .option('--id <id>', 'id of the new evaluation')
    .option('--label <key=value>', 'label of the new evaluation; repeatable', collect)
    .option('--baseline <label>', 'compare with the baseline of this label; default main')
    .option('--concurrency <n>', "trials in flight; default: the suite's", whole(1))
    .option('--budget-usd <dollars>', 'stop when the judge has cost this much', dollars)
    .option('--detach', 'start it and return')
    .option('--no-worker', 'run no worker here: leave the work to `assay worker` processes')
    .option('--json', 'print the report as JSON on standard output')
    .addHelpText('after', HELP)
    .action(async (id: string, flags: RescoreFlags) => {
      const [{ withSession }, { rescoreEvaluation }] = await Promise.all([
        import('../session.ts'),
        import('./rescore-evaluation.ts'),
      ]);
      await withSession(context, (session) => rescoreEvaluation(context, session, id, flags));
    });
}
