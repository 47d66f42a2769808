import type { Command } from 'commander';
import { UserError } from '../../core/errors.ts';
import type { CommandContext } from '../context.ts';
import type { ExportFlags } from './export-files.ts';

const HELP = `
Of an evaluation cases.jsonl (the cases as it keeps them) and trajectories.jsonl (what the agent did in each trial) are
written, of a suite cases.jsonl (its cases in canonical form, whatever their files are). Both are read back as they are:
cases by any suite, trajectories by \`assay score\` and by an agent of type replay. Trajectories hold whatever agent and
tools said: treat the files accordingly.

Examples:
  $ assay export latest --out recorded
  $ assay score --cases recorded/cases.jsonl --trajectories recorded/trajectories.jsonl
  $ assay export --suite suite.yaml --out canonical`;

/** `assay export`: cases and recorded trajectories as JSON lines. */
export function registerExport(program: Command, context: CommandContext): void {
  program
    .command('export')
    .argument('[id]', 'evaluation')
    .description('write the cases and recorded trajectories of an evaluation, or the cases of a suite, as JSON lines')
    .option('--suite <file>', 'export the cases of a suite file instead')
    .requiredOption('--out <folder>', 'folder to write into')
    .option('--force', 'overwrite files that are there')
    .option('--json', 'print what was written as JSON')
    .addHelpText('after', HELP)
    .action(async (id: string | undefined, flags: ExportFlags) => {
      if ((id === undefined) === (flags.suite === undefined)) {
        throw new UserError('name an evaluation or a suite', {
          hint: 'Write `assay export latest --out FOLDER`, or `assay export --suite suite.yaml --out FOLDER`.',
        });
      }
      const { exportEvaluation, exportSuite } = await import('./export-files.ts');
      await (id === undefined ? exportSuite(context, flags) : exportEvaluation(context, id, flags));
    });
}
