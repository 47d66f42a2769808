import type { Command } from 'commander';
import type { CommandContext } from '../context.ts';
import type { LintFlags } from './lint-suite.ts';

const HELP = `
Looks at the suite and all it names (extends, tools, fixtures, datasets, prompts, offline model, agent module) and shows
every problem at once as file:line:column.
An agent module is loaded in a process of its own, its function is not called.
Errors keep a suite from running; warnings do not.
Exit codes: 0 no error, 2 errors.

Examples:
  $ assay lint suite.yaml
  $ assay lint                                  ./suite.yaml
  $ assay lint examples/energy/suite.yaml --json
  $ assay lint suite.yaml --vague-words "good,nice,合理"     other words that a rubric should not use`;

export function registerLint(program: Command, context: CommandContext): void {
  program
    .command('lint')
    .argument('[suite]', 'suite file (YAML or JSON)', 'suite.yaml')
    .description('check a suite and all it names without running it')
    .option(
      '--vague-words <words>',
      'words, separated by commas, that rubrics are warned for; default: vague_words of the suite, else a built-in list',
    )
    .option('--json', 'print the problems as JSON')
    .addHelpText('after', HELP)
    .action(async (suite: string, flags: LintFlags) => {
      const { lintSuite } = await import('./lint-suite.ts');
      await lintSuite(context, suite, flags);
    });
}
