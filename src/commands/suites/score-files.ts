import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import path from 'node:path';
import { finished } from 'node:stream/promises';
import { readToolCall } from '../../agents/openai/read-tool-call.ts';
import type { EvalCase } from '../../core/case.ts';
import { didYouMean, nearest } from '../../core/did-you-mean.ts';
import { InputError, UserError } from '../../core/errors.ts';
import type { Problem } from '../../core/errors.ts';
import { isJsonObject } from '../../core/json.ts';
import { parseJson } from '../../core/lossless-json.ts';
import { costOf } from '../../core/price.ts';
import type { Suite } from '../../core/suite.ts';
import type { Trajectory } from '../../core/trajectory.ts';
import { trialStatus } from '../../core/trial.ts';
import type { CustomScorers } from '../../custom-scorers/custom-scorers.ts';
import { readCases } from '../../datasets/read-cases.ts';
import { parseJsonSource } from '../../datasets/readers/read-json.ts';
import { errorAt } from '../../datasets/readers/source.ts';
import { plural } from '../../report/format.ts';
import { trajectoryFromRecord } from '../../scorers/trajectories/from-record.ts';
import { scoreTrial } from '../../scorers/index.ts';
import type { ScoreDraft, ScoringSuite } from '../../scorers/scorer.ts';
import type { CommandContext } from '../context.ts';
import { readTextLines } from './json-lines.ts';
import type { TextLine } from './json-lines.ts';

/** Flags of `assay score`, as commander hands them over. */
export interface ScoreFlags {
  cases: string;
  trajectories: string;
  suite?: string;
  out?: string;
}

type RecordedSuite = ScoringSuite & Pick<Suite, 'prices'>;

/** What applies without `--suite`. */
const DEFAULT_SUITE: RecordedSuite = {
  tool_score: { weights: { names: 0.4, args: 0.3, order: 0.3 }, profile: 'weighted' },
  safety: { forbidden_tools: [], high_risk_tools: [] },
  judge: null,
  tools: [],
  prices: {},
};
/** Keys of the case id, and a key that is often written for them. */
const ID_KEYS = ['caseId', 'case_id', 'case', 'id'];
const MOST_PROBLEMS = 100;
/** Trials in the hands of the suite's own scorers: enough for every core, few enough for any memory. */
const TRIALS_AT_ONCE = 64;

/**
 * `assay score`: one line of scores for each recorded trajectory, in the order recorded. Nothing is written of a file with
 * a bad line.
 * @throws InputError with every bad line at once
 */
export async function scoreFiles(context: CommandContext, flags: ScoreFlags): Promise<void> {
  const { suite, scorers } = await suiteOf(context, flags.suite);
  const cases = new Map((await readCases(placed(context, flags.cases))).map((evalCase) => [evalCase.id, evalCase]));
  const reader = new TrajectoryReader(cases, flags.trajectories);
  const file = path.resolve(context.cwd, flags.trajectories);
  const lines: string[] = [];
  let waiting: Promise<string>[] = [];
  try {
    for await (const recorded of readTextLines(file, flags.trajectories)) {
      const trial = reader.read(recorded);
      if (trial !== null && reader.problems.length === 0) {
        if (scorers === null) lines.push(lineOf(trial, suite, []));
        else waiting.push(scoredBy(scorers, trial, suite));
      }
      if (reader.problems.length >= MOST_PROBLEMS) break;
      if (waiting.length < TRIALS_AT_ONCE) continue;
      lines.push(...(await Promise.all(waiting)));
      waiting = [];
    }
    lines.push(...(await Promise.all(waiting)));
  } finally {
    await scorers?.close();
  }
  if (reader.problems.length > 0) throw new InputError(reader.problems);
  if (lines.length === 0) {
    throw new UserError(`${flags.trajectories} holds no trajectory`, {
      hint: 'write one JSON line a trial: {"caseId": "…", "trial": 1, "messages": […]}',
    });
  }
  await writeLines(context, flags.out, lines);
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

interface RecordedTrial {
  evalCase: EvalCase;
  trial: number;
  trajectory: Trajectory;
}

class TrajectoryReader {
  readonly problems: Problem[] = [];
  readonly #cases: ReadonlyMap<string, EvalCase>;
  readonly #file: string;
  readonly #trials = new Map<string, { taken: Set<number>; next: number }>();

  constructor(cases: ReadonlyMap<string, EvalCase>, file: string) {
    this.#cases = cases;
    this.#file = file;
  }

  /** The trial of a line; null, with a problem noted, for a record that cannot be scored. */
  read(line: TextLine): RecordedTrial | null {
    const parsed = parseJson(line.text);
    const record = parsed.ok ? parsed.value : null;
    const fail = (at: string[], message: string): null => {
      this.#note(line, at, message);
      return null;
    };
    if (!parsed.ok) return fail([], '');
    if (!isJsonObject(record)) return fail([], 'expected an object: {"caseId": …, "trial": …, "messages": […]}');
    const id = record['caseId'] ?? record['case_id'];
    if (typeof id !== 'string') {
      const near = id === undefined ? Object.keys(record).find((key) => nearest(key, ID_KEYS) !== null) : undefined;
      const slip = near === undefined ? '' : `; the record has "${near}": write "caseId"`;
      return fail(near === undefined ? ['caseId'] : [near], `"caseId": expected the id of a case${slip}`);
    }
    const evalCase = this.#cases.get(id);
    if (evalCase === undefined)
      return fail(['caseId'], `no case has the id "${id.slice(0, 300)}"${didYouMean(id, this.#cases.keys())}`);
    const trial = this.#takeTrial(id, record['trial'] ?? null);
    if (typeof trial === 'string') return fail(['trial'], trial);
    const read = trajectoryFromRecord(record, { readToolCall });
    if (!read.ok) return fail(read.path, `${read.path.join('.') || 'trajectory'}: ${read.problem}`);
    return { evalCase, trial, trajectory: read.trajectory };
  }

  /** Places are worked out for bad lines only: the reader that keeps them is slower. */
  #note(line: TextLine, at: string[], message: string): void {
    const source = parseJsonSource(line.text, this.#file, (problem) => this.problems.push(problem), line.number);
    const steps = at.map((step) => (/^\d+$/.test(step) ? Number(step) : step));
    if (source !== null) this.problems.push(errorAt(source.place(steps), message));
  }

  /** The trial's number: as written, else the next free one of the case. */
  #takeTrial(id: string, written: unknown): number | string {
    if (written !== null && (typeof written !== 'number' || !Number.isSafeInteger(written) || written < 1)) {
      return '"trial": expected a whole number from 1';
    }
    const trials = this.#trials.get(id) ?? { taken: new Set(), next: 1 };
    this.#trials.set(id, trials);
    while (trials.taken.has(trials.next)) trials.next += 1;
    const trial = written ?? trials.next;
    if (trials.taken.has(trial)) return `trial ${trial} of case "${id.slice(0, 300)}" is there twice`;
    trials.taken.add(trial);
    return trial;
  }
}

/** The line of scores of one trial. */
function lineOf(recorded: RecordedTrial, suite: RecordedSuite, custom: readonly ScoreDraft[]): string {
  const { evalCase, trial, trajectory } = recorded;
  const costUsd = costOf(trajectory.usage, trajectory.model, suite.prices);
  const scores = scoreTrial({ evalCase, trajectory, suite, costUsd }, custom);
  const status = trialStatus(scores);
  const passed = status === 'passed' ? true : status === 'failed' ? false : null;
  return JSON.stringify({ caseId: evalCase.id, trial, passed, scores });
}

async function scoredBy(scorers: CustomScorers, recorded: RecordedTrial, suite: RecordedSuite): Promise<string> {
  const { evalCase, trajectory } = recorded;
  return lineOf(recorded, suite, await scorers.score({ evalCase, trajectory, suite }, new AbortController().signal));
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
