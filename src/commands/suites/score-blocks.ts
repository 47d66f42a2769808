import { setImmediate as nextTurn } from 'node:timers/promises';
import type { TextLine } from './json-lines.ts';
import type { BadRecord, ScoredRecord } from './score-line.ts';
import type { ScoreThreads } from './score-threads.ts';
import type { ScoredLines } from './scored-lines.ts';

type Results = (ScoredRecord | BadRecord)[];

interface Block {
  lines: TextLine[];
  /** null: not yet. */
  results: Results | null;
  done: Promise<unknown>;
}

/**
 * Scores blocks of lines and collects them in their order, whoever ends first: a block goes to a thread that is free, else
 * it is scored here. Ends early once so many lines are bad that no more are told.
 * @param scoreHere scores of one line; a thread gives the same
 */
export async function scoreBlocks(
  blocks: AsyncIterable<TextLine[]> | Iterable<TextLine[]>,
  options: {
    scoreHere: (text: string) => ScoredRecord | BadRecord;
    threads: Pick<ScoreThreads, 'take'> | null;
    scored: ScoredLines;
  },
): Promise<void> {
  const { threads, scored } = options;
  const queue: Block[] = [];
  const collect = (): void => {
    for (let first = queue[0]; first !== undefined && first.results !== null; first = queue[0]) {
      scored.addAll(first.lines, first.results);
      queue.shift();
    }
  };
  for await (const lines of blocks) {
    queue.push(start(lines, options));
    // Answers of threads are taken in between.
    if (threads !== null) await nextTurn();
    collect();
    if (scored.full) return;
  }
  while (queue[0] !== undefined && !scored.full) {
    await queue[0].done;
    collect();
  }
}

function start(lines: TextLine[], { scoreHere, threads }: Parameters<typeof scoreBlocks>[1]): Block {
  const here = (): Results => lines.map(({ text }) => scoreHere(text));
  const taken = threads?.take(lines.map(({ text }) => text)) ?? null;
  if (taken === null) return { lines, results: here(), done: Promise.resolve() };
  const block: Block = { lines, results: null, done: Promise.resolve() };
  // A thread can run out of memory; what is wrong with a line is no error of it.
  block.done = taken.catch(here).then((results) => void (block.results = results));
  block.done.catch(() => undefined); // its turn comes later: until then it must not count as unhandled
  return block;
}
