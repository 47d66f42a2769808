import type { Command } from 'commander';
import type { CommandContext } from '../context.ts';
import { collect, dollars, whole } from '../flag-parsers.ts';
import type { RunFlags } from './run-flags.ts';

const HELP = `
Examples:
  $ assay run suite.yaml                          run it, follow it, print the report, exit by the gates
  $ assay run suite.yaml --dry-run                what would run, without running it
  $ assay run suite.yaml --trials 5 --concurrency 50
  $ assay run suite.yaml --filter category=refund,tag=smoke --limit 10
  $ assay run suite.yaml --budget-usd 2.50 --label branch=main
  $ assay run suite.yaml --detach                 start it in the background; \`assay status\` follows

An unfinished evaluation of the same suite, data, agent and number of trials is joined: finished trials are not run
again. --new starts another one. Values of one filter key are alternatives, keys must all hold.
Exit codes: 0 gates passed, 1 a gate failed, 2 wrong usage or input, 3 incomplete, 4 infrastructure or model endpoint,
130 interrupted.`;

export function registerRun(program: Command, context: CommandContext): void {
  program
    .command('run')
    .argument('[suite]', 'suite file (YAML)', 'suite.yaml')
    .description('evaluate a suite: run its cases, score them, print the report, exit by the gates')
    .option('--trials <n>', "repetitions of every case; default: the suite's", whole(1, 10_000))
    .option('--concurrency <n>', "trials in flight; default: the suite's", whole(1))
    .option(
      '--filter <key=value,…>',
      'only cases with this tag, category, dimension, difficulty or id; repeatable',
      collect,
    )
    .option('--limit <n>', 'only the first n selected cases', whole(1))
    .option('--label <key=value>', 'label of the evaluation; repeatable', collect)
    .option('--budget-usd <dollars>', 'stop when agent and judge have cost this much', dollars)
    .option('--baseline <label>', 'compare with the baseline of this label; default main')
    .option('--id <id>', 'id of the evaluation: joins it when it exists')
    .option('--new', 'start a new evaluation, also when there is an unfinished one to join')
    .option('--fail-fast', 'stop at the first trial that fails (exit code 1)')
    .option('--detach', 'start it and return')
    .option('--no-worker', 'run no worker here: leave the work to `assay worker` processes')
    .option('--no-judge-cache', 'ask the judge anew: take no verdict of an earlier evaluation, and keep none')
    .option('--dry-run', 'print cases, trials, model calls and a cost estimate; run nothing')
    .option('--json', 'print the report as JSON on standard output')
    .addHelpText('after', HELP)
    .action(async (suitePath: string, flags: RunFlags) => {
      const { runSuite } = await import('./run-suite.ts');
      await runSuite(context, suitePath, flags);
    });
}
