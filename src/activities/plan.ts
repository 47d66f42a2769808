import { ApplicationFailure } from '@temporalio/activity';
import { findEvaluation, markStarted } from '../db/evaluations.ts';
import { loadLongestTimeout, loadMissingShards, loadMissingTrials, type MissingTrial } from '../db/missing-trials.ts';
import type { Plan, ShardRange } from './contract.ts';
import type { ActivityDeps } from './deps.ts';

/** Characters of a search attribute: Temporal takes 2 KB of bytes, SQL visibility stores 255 characters. */
const ATTRIBUTE_LENGTH = 200;
/** Room for what surrounds the agent: claim, journal, scoring, writes. */
const OVERHEAD_MS = 60_000;
/** Bounds all attempts of a trial's step, waits for a rate limit included; then the trial is scheduled anew. */
const SCHEDULE_TO_CLOSE_MS = 24 * 60 * 60_000;
/**
 * Share of the lanes. Trials that began together end together, nearly all before the answer to the first of them is here: with
 * two fifths a run took 3 % longer (bench/RESULTS.md).
 */
const LOOK_AHEAD = 0.8;
/** Slots of a worker that nobody waits on. */
const FREE_SLOTS = 2;

/** What is left to do, and with which settings. */
export function createPrepare(deps: ActivityDeps): (input: { evaluationId: string }) => Promise<Plan> {
  return async ({ evaluationId }) => {
    const row = await findEvaluation(deps.db, evaluationId);
    if (row === null) {
      throw ApplicationFailure.nonRetryable(
        `there is no evaluation ${evaluationId} in this worker's database`,
        'NoEvaluation',
      );
    }
    await markStarted(deps.db, evaluationId);
    const { limits } = row.definition;
    const { config } = deps;
    const longest = Math.max(limits.timeout_ms, (await loadLongestTimeout(deps.db, evaluationId)) ?? 0);
    const judging = limits.call_timeout_ms * 3;
    const [label] = Object.entries(row.labels).map(([name, value]) => `${name}=${value}`);
    const shardSize = evenShardSize(row.planned_trials, config.shardSize);
    const shards = await loadMissingShards(deps.db, evaluationId, shardSize);
    const sideBySide = Math.min(shards.length, config.shardWindow);
    // With a queue for the judge the rest of a trial is done elsewhere, where the lanes cannot be counted.
    const countable = config.agentTaskQueue === config.judgeTaskQueue;
    return {
      revision: row.revision,
      shards,
      shardSize,
      window: config.shardWindow,
      concurrency: row.concurrency,
      paused: row.status === 'paused',
      title: `${row.suite}: ${row.cases} cases, ${row.planned_trials} trials`,
      attributes: {
        suite: row.suite.slice(0, ATTRIBUTE_LENGTH),
        kind: row.kind,
        label: label?.slice(0, ATTRIBUTE_LENGTH) ?? null,
      },
      settings: {
        agentQueue: config.agentTaskQueue,
        judgeQueue: config.judgeTaskQueue,
        heartbeatTimeoutMs: config.heartbeatTimeoutMs,
        // The judge may follow in the agent's activity, see judge-at-once.ts.
        agentTimeoutMs: longest + judging + OVERHEAD_MS,
        judgeTimeoutMs: judging + OVERHEAD_MS,
        scheduleToCloseMs: SCHEDULE_TO_CLOSE_MS,
        lookAhead: countable ? lookAheadShare(row.concurrency, sideBySide, config.maxActivities) : 0,
      },
    };
  };
}

/**
 * Trials of a shard where all are of one length, at most `largest`: shards that begin together end together. One that ended
 * before the others would leave its lanes idle from its last trials on until they are told to the others.
 */
export function evenShardSize(trials: number, largest: number): number {
  const shards = Math.max(1, Math.ceil(trials / largest));
  return Math.max(1, Math.ceil(trials / shards));
}

/**
 * Share of its lanes that each of `shards` side by side hands out early, rounded up. All together must find room in a worker:
 * one that does not is handed back, and ends it.
 * @param slots activities a worker takes at once
 */
export function lookAheadShare(concurrency: number, shards: number, slots: number): number {
  const waiting = slots - FREE_SLOTS - shards - concurrency;
  return Math.min(LOOK_AHEAD, Math.max(0, waiting / concurrency));
}

/** The trials of a shard without an end. */
export function createLoadMissing(deps: ActivityDeps): (range: ShardRange) => Promise<MissingTrial[]> {
  return (range) => loadMissingTrials(deps.db, range);
}
