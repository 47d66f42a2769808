import type { Stop } from '../core/evaluation.ts';

/** What workflows and activities tell each other: ids and small numbers only; everything else is in Postgres. */

/** Every activity, by the name workflows call it. */
export const ACTIVITY_NAMES = [
  'prepare',
  'loadMissing',
  'runAgent',
  'checkIsolation',
  'judgeTrial',
  'aggregate',
  'compareBaseline',
  'endEvaluation',
  'failEvaluation',
  'snapshotSuite',
] as const;

export interface Plan {
  /** Grows with each resume; workers drop what they remember of an older one. */
  revision: number;
  /** Shards with work, by number; shard n holds ordinals n*shardSize .. (n+1)*shardSize-1. */
  shards: number[];
  shardSize: number;
  window: number;
  concurrency: number;
  paused: boolean;
  settings: StepSettings;
  /** Search attributes of the workflow. */
  attributes: { suite: string; kind: string; label: string | null };
  /** One line for the Temporal UI. */
  title: string;
}

/** Timeouts and queues of the trial steps, fixed when a shard starts. */
export interface StepSettings {
  agentQueue: string;
  judgeQueue: string;
  heartbeatTimeoutMs: number;
  agentTimeoutMs: number;
  judgeTimeoutMs: number;
  scheduleToCloseMs: number;
  /** Trials handed out early, as a share of the lanes; see workflows/look-ahead.ts. Absent in plans of older builds. */
  lookAhead?: number;
}

export interface ShardRange {
  evaluationId: string;
  from: number;
  to: number;
}

export interface TrialStepInput {
  evaluationId: string;
  revision: number;
  position: number;
  trialIndex: number;
  /** Trials of its shard that may be worked on at once; absent where the shard does not look ahead, and from older builds. */
  lanes?: number;
}

/**
 * `n`: what comes next for the trial; `later`: it has not begun and is handed back. `w`: which worker it ran in.
 * `stop`: set when this trial's end stops the evaluation (fail-fast).
 */
export interface TrialStepResult {
  n: 'isolation' | 'judge' | 'done' | 'later';
  w?: string;
  stop?: Stop;
}

export interface EndInput {
  evaluationId: string;
  stop: Stop | null;
  canceled: boolean;
  /** Of the plan that was worked off; the end is not written over a newer one. */
  revision: number;
}
