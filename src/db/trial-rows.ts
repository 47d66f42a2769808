import { sql } from 'kysely';
import type { Json } from '../core/json.ts';
import type { ModelReply } from '../core/model.ts';
import type { Score } from '../core/score.ts';
import { latencyMs, type Trajectory, type Usage } from '../core/trajectory.ts';
import type { TrialKey, TrialStatus } from '../core/trial.ts';

/** What an activity learns when it starts on a trial. */
export interface Claim {
  /** Writes of this activity are conditional on it: a later claim fences them off. */
  fence: number;
  /** Set when the agent's part is done and stored. */
  trajectory_fence: number | null;
  deaths: number;
  model_failures: number;
  rate_limits: number;
  /** Money of the agent's stored part; null before it, or without a price. */
  cost_usd: number | null;
  /** True when no earlier activity started this step of the trial: nothing of it can be in the journal. */
  first: boolean;
}

interface VerdictRow {
  dimension: string;
  vote: number;
  round: number;
  prompt_hash: string;
  model: string | null;
  params: Json;
  raw_reply: string | null;
  parsed: Json;
  value: number | null;
  passed: boolean | null;
  unscored_cause: string | null;
  reason: string | null;
  /** The evaluation that paid for it, when it came from the verdict cache. */
  cached_from: string | null;
  /** Key under which the cache keeps it; null: not kept. */
  cache_key: string | null;
}

/** How a trial ended, as stored. */
export interface TrialEnd {
  key: TrialKey;
  fence: number;
  status: TrialStatus;
  error: { kind: string; message: string } | null;
  /** Given when this activity made it; null when it is stored already (or there is none). */
  trajectory: Trajectory | null;
  cost_usd: number | null;
  judge_cost_usd: number | null;
  judge_tokens: number | null;
  scores: Score[];
  verdicts: VerdictRow[];
  /** Model calls that are recorded with the end; default none. */
  calls?: JournalEntry[];
}

export interface JournalEntry {
  key: TrialKey;
  fence: number;
  role: string;
  path: string;
  dimension: string;
  vote: number;
  sequence: number;
  request_hash: string;
  response: ModelReply;
  cost_usd: number | null;
  latency_ms: number;
}

/** A trajectory that waits for its judge. */
export interface StoredTrajectory {
  key: TrialKey;
  fence: number;
  trajectory: Trajectory;
  cost_usd: number | null;
  /** Model calls that are recorded with it; default none. */
  calls?: JournalEntry[];
  /** True: the judge step comes next in this very process, under this claim. Default false. */
  goesOn?: boolean;
}

export const keyText = (key: TrialKey): string => `${key.evaluation_id}\u0000${key.case_id}\u0000${key.trial_index}`;

/** Rows are locked in key order, so two writers of the same trials cannot deadlock. */
export function sorted<T>(items: readonly T[], keyOf: (item: T) => TrialKey): T[] {
  const keyed = items.map((item) => ({ item, text: keyText(keyOf(item)) }));
  keyed.sort((a, b) => (a.text === b.text ? 0 : a.text < b.text ? -1 : 1));
  return keyed.map(({ item }) => item);
}

export function keyColumns(key: TrialKey): Record<string, unknown> {
  return { evaluation_id: key.evaluation_id, case_id: key.case_id, trial_index: key.trial_index };
}

export const usageColumns = (usage: Usage): Record<string, number | null> => ({
  input_tokens: usage.input,
  cached_tokens: usage.cached,
  output_tokens: usage.output,
  reasoning_tokens: usage.reasoning,
  total_tokens: usage.total,
});

export function trajectoryColumns(trajectory: Trajectory): Record<string, unknown> {
  const latency = latencyMs(trajectory);
  return {
    final_status: trajectory.final_status,
    iterations: trajectory.iterations,
    tool_calls: trajectory.tool_calls.length,
    ...usageColumns(trajectory.usage),
    latency_ms: latency === null ? null : Math.round(latency),
    first_token_ms: trajectory.time_to_first_token_ms === null ? null : Math.round(trajectory.time_to_first_token_ms),
  };
}

export const TRAJECTORY_RECORD =
  sql.raw(`evaluation_id text, case_id text, trial_index integer, fence bigint, trajectory jsonb, cost_usd numeric,
  final_status text, iterations integer, tool_calls integer, input_tokens bigint, cached_tokens bigint, output_tokens bigint,
  reasoning_tokens bigint, total_tokens bigint, latency_ms integer, first_token_ms integer`);
export const TRAJECTORY_ASSIGNMENTS =
  sql.raw(`final_status = i.final_status, iterations = i.iterations, tool_calls = i.tool_calls,
  input_tokens = i.input_tokens, cached_tokens = i.cached_tokens, output_tokens = i.output_tokens,
  reasoning_tokens = i.reasoning_tokens, total_tokens = i.total_tokens, latency_ms = i.latency_ms,
  first_token_ms = i.first_token_ms, cost_usd = i.cost_usd`);
