import type { Command } from 'commander';
import type { CommandContext } from '../context.ts';
import type { ScoreFlags } from './score-files.ts';

const HELP = `
A trajectory is one JSON line: {"caseId": "refund-2", "trial": 1, "messages": [OpenAI chat messages]},
or a full trajectory with "tool_calls" in place of "messages". One JSON line a trial comes out:
  {"caseId", "trial", "passed", "scores": [{"scorer", "value", "passed", "reason", …}]}
"passed" is null when nothing decides. Scorers and formulas: docs/scoring.md.

Examples:
  $ assay score --cases cases.jsonl --trajectories recorded.jsonl
  $ assay score --cases cases.yaml --trajectories recorded.jsonl --suite suite.yaml --out scores.jsonl`;

export function registerScore(program: Command, context: CommandContext): void {
  program
    .command('score')
    .description('score recorded trajectories with the deterministic scorers: no Temporal, no database, no model')
    .requiredOption('--cases <file>', 'dataset: YAML, JSON, JSON lines or CSV')
    .requiredOption('--trajectories <file>', 'recorded trajectories, JSON lines')
    .option('--suite <file>', 'suite whose tools, weights, profile, safety and decides apply; default: the defaults')
    .option('--out <file>', 'write the scores there instead of to standard output')
    .option('--json', 'no effect: the output is JSON lines in any case')
    .addHelpText('after', HELP)
    .action(async (flags: ScoreFlags) => {
      const { scoreFiles } = await import('./score-files.ts');
      await scoreFiles(context, flags);
    });
}
