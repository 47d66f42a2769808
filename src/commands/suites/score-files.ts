import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { finished } from 'node:stream/promises';
import type { EvalCase } from '../../core/case.ts';
import { InputError, UserError } from '../../core/errors.ts';
import type { CustomScorers } from '../../custom-scorers/custom-scorers.ts';
import { readCases } from '../../datasets/read-cases.ts';
import { plural } from '../../report/format.ts';
import type { CommandContext } from '../context.ts';
import { readTextLines } from './json-lines.ts';
import type { TextLine } from './json-lines.ts';
import { scoreBlocks } from './score-blocks.ts';
import {
  type BadRecord,
  readRecord,
  type RecordedSuite,
  type ScoredRecord,
  scoreLine,
  scoreRecord,
} from './score-line.ts';
import { startScoreThreads } from './score-threads.ts';
import { ScoredLines } from './scored-lines.ts';

/** Flags of `assay score`, as commander hands them over. */
export interface ScoreFlags {
  cases: string;
  trajectories: string;
  suite?: string;
  out?: string;
}

/** What applies without `--suite`. */
const DEFAULT_SUITE: RecordedSuite = {
  tool_score: { weights: { names: 0.4, args: 0.3, order: 0.3 }, profile: 'weighted' },
  safety: { forbidden_tools: [], high_risk_tools: [] },
  judge: null,
  tools: [],
  prices: {},
};
/** Trials in the hands of the suite's own scorers: enough for every core, few enough for any memory. */
const TRIALS_AT_ONCE = 64;
/** Bytes of trajectories from which threads win more time than they take to start. */
const THREADS_FROM_BYTES = 4_000_000;
/** Lines of a block: so many that handing it over costs nothing, so few that no thread waits long for the last one. */
const LINES_A_BLOCK = 100;

/**
 * `assay score`: one line of scores for each recorded trajectory, in the order recorded. Nothing is written of a file with
 * a bad line.
 * @throws InputError with every bad line at once, up to 100 of them
 */
export async function scoreFiles(context: CommandContext, flags: ScoreFlags): Promise<void> {
  const { suite, scorers } = await suiteOf(context, flags.suite);
  const file = path.resolve(context.cwd, flags.trajectories);
  const casesFile = placed(context, flags.cases);
  const size = await stat(file).then(
    (stats) => stats.size,
    () => 0, // who reads it says what is wrong with it
  );
  const threads =
    scorers === null && size >= THREADS_FROM_BYTES ? startScoreThreads({ cases: casesFile, suite }) : null;
  const scored = new ScoredLines(flags.trajectories);
  try {
    const cases = new Map((await readCases(casesFile)).map((evalCase) => [evalCase.id, evalCase]));
    const blocks = inBlocks(readTextLines(file, flags.trajectories), scorers === null ? LINES_A_BLOCK : TRIALS_AT_ONCE);
    const scoreHere = (text: string): ScoredRecord | BadRecord => scoreLine(text, cases, suite);
    if (scorers === null) await scoreBlocks(blocks, { scoreHere, threads, scored });
    else await scoreWith(scorers, blocks, { cases, suite, scored });
  } finally {
    await Promise.all([scorers?.close(), threads?.close()]);
  }
  if (scored.problems.length > 0) {
    throw new InputError(scored.problems, scored.full ? { hint: 'what comes after these was not looked at' } : {});
  }
  if (scored.lines.length === 0) {
    throw new UserError(`${flags.trajectories} holds no trajectory`, {
      hint: 'write one JSON line a trial: {"caseId": "…", "trial": 1, "messages": […]}',
    });
  }
  await writeLines(context, flags.out, scored.lines);
}

async function* inBlocks(lines: AsyncIterable<TextLine>, size: number): AsyncGenerator<TextLine[]> {
  let block: TextLine[] = [];
  for await (const line of lines) {
    if (block.push(line) < size) continue;
    yield block;
    block = [];
  }
  if (block.length > 0) yield block;
}

/** The suite's own scorers run in processes of their own: the trials of a block at once. */
async function scoreWith(
  scorers: CustomScorers,
  blocks: AsyncIterable<TextLine[]>,
  { cases, suite, scored }: { cases: ReadonlyMap<string, EvalCase>; suite: RecordedSuite; scored: ScoredLines },
): Promise<void> {
  const score = async (line: TextLine): Promise<ScoredRecord | BadRecord> => {
    const record = readRecord(line.text, cases);
    if ('message' in record) return record;
    const { evalCase, trajectory } = record;
    // Nothing is printed once a line is bad.
    const wanted = scored.problems.length === 0;
    const custom = wanted ? await scorers.score({ evalCase, trajectory, suite }, new AbortController().signal) : [];
    return scoreRecord(record, suite, custom);
  };
  for await (const block of blocks) {
    scored.addAll(block, await Promise.all(block.map(score)));
    if (scored.full) return;
  }
}

interface ScoredWith {
  suite: RecordedSuite;
  /** The suite's own scorers; null: it has none. */
  scorers: CustomScorers | null;
}

async function suiteOf(context: CommandContext, file: string | undefined): Promise<ScoredWith> {
  if (file === undefined) return { suite: DEFAULT_SUITE, scorers: null };
  const { loadSuite } = await import('../../datasets/load-suite.ts');
  const { suite, suiteRoot } = await loadSuite(file, { env: context.env, cwd: context.cwd });
  const configs = suite.scorers ?? [];
  if (configs.length === 0) return { suite, scorers: null };
  const { createCustomScorers } = await import('../../custom-scorers/custom-scorers.ts');
  return { suite, scorers: createCustomScorers(configs, { suiteRoot, env: context.env }) };
}

/** As the user wrote it where that is right for the process's own folder, so that problems name the file as written. */
function placed(context: CommandContext, file: string): string {
  return context.cwd === process.cwd() ? file : path.resolve(context.cwd, file);
}

const LINES_A_WRITE = 500;

async function writeLines(context: CommandContext, out: string | undefined, lines: readonly string[]): Promise<void> {
  const blocks: string[] = [];
  for (let at = 0; at < lines.length; at += LINES_A_WRITE) {
    blocks.push(`${lines.slice(at, at + LINES_A_WRITE).join('\n')}\n`);
  }
  if (out === undefined) {
    for (const block of blocks) context.stdout(block);
    return;
  }
  const stream = createWriteStream(path.resolve(context.cwd, out));
  const done = finished(stream);
  done.catch(() => undefined); // awaited below; a failure before that must not count as unhandled
  try {
    for (const block of blocks) if (!stream.write(block) && !stream.destroyed) await once(stream, 'drain');
    stream.end();
    await done;
  } catch (error) {
    throw new UserError(`cannot write ${out}: ${error instanceof Error ? error.message : String(error)}`, {
      hint: 'name a file in a folder that exists and may be written',
      cause: error,
    });
  }
  context.stderr(`${plural(lines.length, 'trial')} scored, written to ${out}\n`);
}
