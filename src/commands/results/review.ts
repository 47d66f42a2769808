import { type Command, InvalidArgumentError } from 'commander';
import type { CommandContext } from '../context.ts';
import type { ReviewFlags } from './review-file.ts';

const HELP = `
A person writes "label" and "reviewer" into each line; what a label may be stands in "scale". The judge's own verdict is
left out, so that nobody follows it. Then:
  $ assay calibrate latest --labels review.jsonl

Examples:
  $ assay review latest                             5 % of the judge's verdicts, into review.jsonl
  $ assay review latest --share 0.2 --out more.jsonl
Exit codes: 0 written, 2 wrong usage or no such evaluation, 3 the judge gave no verdict, 4 Postgres cannot be used.`;

/** `assay review`: verdicts of the judge for people to label. */
export function registerReview(program: Command, context: CommandContext): void {
  program
    .command('review')
    .argument('<id>', "evaluation whose judge's verdicts are sampled")
    .description("write a sample of the judge's verdicts for people to label")
    .option('--out <file>', 'file to write, JSON lines', 'review.jsonl')
    .option('--share <share>', 'share of the verdicts, of each dimension and verdict', share, 0.05)
    .option('--seed <n>', 'the same seed gives the same sample', seed, 1)
    .option('--force', 'overwrite a file that is there')
    .option('--json', 'print what was written as one JSON object')
    .addHelpText('after', HELP)
    .action(async (id: string, flags: ReviewFlags) => {
      const { writeReview } = await import('./review-file.ts');
      await writeReview(context, id, flags);
    });
}

function share(text: string): number {
  const value = Number(text);
  if (!(value > 0 && value <= 1)) throw new InvalidArgumentError('Expected a number over 0 and up to 1, such as 0.05.');
  return value;
}

function seed(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isSafeInteger(value)) throw new InvalidArgumentError('Expected a whole number.');
  return value;
}
