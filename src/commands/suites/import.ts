import { InvalidArgumentError } from 'commander';
import type { Command } from 'commander';
import type { CommandContext } from '../context.ts';
import type { ImportBfclFlags } from './import-bfcl.ts';

const BFCL_HELP = `
Writes OUT/cases.jsonl and OUT/suite.yaml. An accepted value "" of the ground truth becomes {optional: true}, several
accepted values {any_of: […]}; values are compared as the leaderboard's checker does (tool_score.profile: bfcl). Dots in
tool names become "_", in tools and expected calls alike. Without --answers every case expects no call (irrelevance).

Examples:
  $ assay import bfcl --questions BFCL_v4_simple_python.json --answers possible_answer/BFCL_v4_simple_python.json --out bfcl
  $ assay import bfcl --questions BFCL_v4_irrelevance.json --out irrelevance --limit 40
  $ assay run bfcl/suite.yaml`;

/** `assay import`: datasets of other projects as suites of this one. */
export function registerImport(program: Command, context: CommandContext): void {
  const command = program.command('import').description('turn datasets of other projects into a suite');
  command
    .command('bfcl')
    .description('Berkeley Function-Calling Leaderboard: original question and answer files')
    .requiredOption('--questions <file>', 'question file, one JSON object a line')
    .option('--answers <file>', 'file with the ground truth; leave it out for irrelevance')
    .requiredOption('--out <folder>', 'folder to write cases.jsonl and suite.yaml into')
    .option('--limit <n>', 'only the first n questions', positiveNumber)
    .option('--force', 'overwrite files that are there')
    .option('--json', 'print what was written as JSON')
    .addHelpText('after', BFCL_HELP)
    .action(async (flags: ImportBfclFlags) => {
      const { importBfcl } = await import('./import-bfcl.ts');
      await importBfcl(context, flags);
    });
}

function positiveNumber(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('Expected a whole number of at least 1.');
  return Number(text);
}
