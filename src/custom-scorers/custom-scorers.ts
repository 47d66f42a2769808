import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { loadModule } from '../agents/module/module-load.ts';
import { createModulePool } from '../agents/module/module-pool.ts';
import { type ModuleProcess, startModuleProcess } from '../agents/module/module-process.ts';
import type { ChildMessage } from '../agents/module/module-protocol.ts';
import { WorkerCrashError } from '../agents/module/worker-crash.ts';
import { abortError } from '../agents/sleep.ts';
import { startTimeCap } from '../agents/time-cap.ts';
import { UserError } from '../core/errors.ts';
import type { Json } from '../core/json.ts';
import type { CustomScorerConfig } from '../core/suite.ts';
import type { CustomScorerInput } from '../scorers/custom/custom-scorer.ts';
import { readCustomScore, unscored } from '../scorers/custom/read-custom-score.ts';
import type { ScoreDraft, ScoringSuite } from '../scorers/scorer.ts';
import { loadFailure, SCORER_HINT } from './load-failure.ts';
import { scorerEnvironment } from './scorer-environment.ts';

export interface CustomScorersOptions {
  /** Absolute folder of the suite file; paths are relative to it. */
  suiteRoot: string;
  /** Environment of this process; scorers see only what a program needs to run. */
  env: Readonly<Record<string, string | undefined>>;
  /** Most processes at a time; default: one a core. */
  maxProcesses?: number;
  /** Receives what scorers print. Default: dropped. */
  log?: (text: string) => void;
}

/** The user's own scorers, each trial in a child process: one that throws, loops or dies costs its own score and nothing else. */
export interface CustomScorers {
  /**
   * The scores of one trial, in the order of the suite: whatever the scorers do is a score, null with the cause where they
   * gave none. Rejects with `AbortError`, and with `UserError` where one cannot be loaded: every trial would be without it.
   */
  score(input: Omit<CustomScorerInput, 'options'>, signal: AbortSignal): Promise<ScoreDraft[]>;
  /** Ends every process once no trial is being scored. A trial that comes later is scored in processes made anew. */
  release(): void;
  /** Ends every process now. */
  close(): Promise<void>;
}

type Pool = ReturnType<typeof createModulePool>;

/** Processes are started when the first trial is scored. */
export function createCustomScorers(
  configs: readonly CustomScorerConfig[],
  options: CustomScorersOptions,
): CustomScorers {
  const maxProcesses = options.maxProcesses ?? availableParallelism();
  const env = scorerEnvironment(options.env);
  const { log, suiteRoot } = options;
  const makePool = (): Pool =>
    createModulePool({ start: () => startModuleProcess({ env, ...(log === undefined ? {} : { log }) }), maxProcesses });
  let pool: Pool | null = null;
  let running = 0;
  let released = false;
  const close = async (): Promise<void> => {
    const closing = pool;
    pool = null;
    await closing?.close();
  };
  return {
    async score({ evalCase, trajectory, suite }, signal) {
      pool ??= makePool();
      const input = { evalCase, trajectory, suite: scoringPart(suite) };
      const work = { pool, input, maxProcesses, suiteRoot };
      running += 1;
      try {
        return await Promise.all(configs.map((config) => scoreOne(config, work, signal)));
      } finally {
        running -= 1;
        if (released && running === 0) await close();
      }
    },
    release() {
      released = true;
      if (running === 0) void close();
    },
    close,
  };
}

/** Fixtures and the rest of a suite need not travel with every trial. */
function scoringPart({ tool_score, retrieval, safety, decides, judge, tools, sub_agents }: ScoringSuite): ScoringSuite {
  return {
    tool_score,
    safety,
    judge,
    tools,
    ...(retrieval === undefined ? {} : { retrieval }),
    ...(decides === undefined ? {} : { decides }),
    ...(sub_agents === undefined ? {} : { sub_agents }),
  };
}

interface Work {
  pool: Pool;
  input: Omit<CustomScorerInput, 'options'>;
  maxProcesses: number;
  suiteRoot: string;
}

async function scoreOne(
  config: CustomScorerConfig,
  { pool, input, maxProcesses, suiteRoot }: Work,
  signal: AbortSignal,
): Promise<ScoreDraft> {
  const child = await pool.acquire(maxProcesses, signal);
  let reusable = false;
  try {
    const path = resolve(suiteRoot, config.path);
    try {
      await loadModule(child, { path, exportName: config.export ?? 'default' }, signal);
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      throw new UserError(loadFailure(config, error.message), { hint: SCORER_HINT, cause: error });
    }
    const task = { ...input, options: config.options } as unknown as Json;
    const result = await ask(child, config, task, signal);
    reusable = result.reusable;
    return result.score;
  } catch (error) {
    if (signal.aborted) throw abortError(signal);
    if (error instanceof WorkerCrashError)
      return unscored(config, error.message.replace('the agent module', "the scorer's module"));
    throw error;
  } finally {
    await pool.release(child, reusable);
  }
}

interface Asked {
  score: ScoreDraft;
  /** False when the process may still be at work, or its state is unknown. */
  reusable: boolean;
}

async function ask(child: ModuleProcess, config: CustomScorerConfig, task: Json, signal: AbortSignal): Promise<Asked> {
  const cap = startTimeCap(signal, config.timeout_ms);
  const answered = new Promise<Extract<ChildMessage, { type: 'returned' | 'failed' }>>((resolve) => {
    child.listen((message) => {
      if (message.type === 'returned' || message.type === 'failed') resolve(message);
    });
  });
  const stopped = new Promise<null>((resolve) => {
    if (cap.signal.aborted) resolve(null);
    else cap.signal.addEventListener('abort', () => resolve(null), { once: true });
  });
  try {
    child.send({ type: 'score', input: task });
    const ended = await Promise.race([answered, child.ended, stopped]);
    if (signal.aborted) throw abortError(signal);
    if (ended === null) {
      return { score: unscored(config, `no score within timeout_ms (${config.timeout_ms} ms)`), reusable: false };
    }
    if (ended instanceof Error) throw ended;
    if (ended.type === 'returned') return { score: readCustomScore(config, ended.value), reusable: true };
    const { name, message, at } = ended.error;
    const place = at === null ? '' : ` (${at})`;
    return { score: unscored(config, `it threw ${name}: ${message}${place}`), reusable: ended.phase === 'run' };
  } finally {
    cap.dispose();
  }
}
