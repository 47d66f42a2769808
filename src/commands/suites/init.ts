import type { Command } from 'commander';
import type { CommandContext } from '../context.ts';
import type { InitFlags } from './init-project.ts';

const HELP = `
Writes a suite with its cases, mock fixtures and an offline model, an agent module to start from, and a CI workflow.
It runs at once, without a key; with OPENAI_API_KEY (and OPENAI_BASE_URL) set it runs on a real model.

Examples:
  $ assay init                 into this folder
  $ assay init evals && assay run evals/suite.yaml
  $ assay init --force         overwrite files of an earlier init`;

export function registerInit(program: Command, context: CommandContext): void {
  program
    .command('init')
    .argument('[folder]', 'where to write', '.')
    .description('write a first suite that runs at once')
    .option('--force', 'overwrite files that are there')
    .option('--json', 'print the names of the files as JSON')
    .addHelpText('after', HELP)
    .action(async (folder: string, flags: InitFlags) => {
      const { initProject } = await import('./init-project.ts');
      await initProject(context, folder, flags);
    });
}
