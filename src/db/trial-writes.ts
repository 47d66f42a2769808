import { sql } from 'kysely';
import type { ModelReply } from '../core/model.ts';
import type { Json } from '../core/json.ts';
import type { Score } from '../core/score.ts';
import type { Trajectory, Usage } from '../core/trajectory.ts';
import { latencyMs } from '../core/trajectory.ts';
import type { TrialKey, TrialStatus } from '../core/trial.ts';
import { createBatcher } from './batch.ts';
import type { Db } from './connect.ts';
import { toJsonb } from './escape.ts';
import { whileTransient } from './transient.ts';

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

export interface VerdictRow {
  dimension: string;
  vote: number;
  prompt_hash: string;
  model: string | null;
  params: Json;
  raw_reply: string | null;
  parsed: Json;
  unscored_cause: string | null;
  reason: string | null;
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

/** Trial writes of one worker. Each is one transaction; several trials share one. All are safe to repeat. */
export interface TrialWriter {
  /** null: the trial has ended already. */
  claim(key: TrialKey): Promise<Claim | null>;
  /** false: fenced off by a later claim. */
  journal(entry: JournalEntry): Promise<boolean>;
  saveTrajectory(item: { key: TrialKey; fence: number; trajectory: Trajectory; cost_usd: number | null }): Promise<boolean>;
  finish(end: TrialEnd): Promise<boolean>;
}

const keyText = (key: TrialKey): string => `${key.evaluation_id}\u0000${key.case_id}\u0000${key.trial_index}`;

/** Rows are locked in key order, so two writers of the same trials cannot deadlock. */
function sorted<T>(items: T[], keyOf: (item: T) => TrialKey): { ordered: T[]; indexes: number[] } {
  const indexes = items.map((_, index) => index);
  const texts = items.map((item) => keyText(keyOf(item)));
  indexes.sort((a, b) => ((texts[a] ?? '') < (texts[b] ?? '') ? -1 : 1));
  return { ordered: indexes.map((index) => items[index] as T), indexes };
}

/** Creates the writer of one worker process. `worker` names it: a claim by another name after an unfinished one counts as a death. */
export function createTrialWriter(db: Db, worker: string): TrialWriter {
  const claims = createBatcher<TrialKey, Claim | null>({
    keyOf: keyText,
    parallel: 2,
    flush: (keys) => whileTransient(() => claimTrials(db, worker, keys)),
  });
  const journals = createBatcher<JournalEntry, boolean>({
    keyOf: (entry) => `${keyText(entry.key)} ${entry.role} ${entry.path} ${entry.dimension} ${entry.vote} ${entry.sequence}`,
    parallel: 2,
    flush: (entries) => whileTransient(() => journalCalls(db, entries)),
  });
  const trajectories = createBatcher<{ key: TrialKey; fence: number; trajectory: Trajectory; cost_usd: number | null }, boolean>({
    keyOf: (item) => keyText(item.key),
    parallel: 2,
    flush: (items) => whileTransient(() => saveTrajectories(db, items)),
  });
  const ends = createBatcher<TrialEnd, boolean>({
    keyOf: (end) => keyText(end.key),
    maxItems: 100,
    parallel: 2,
    flush: (items) => whileTransient(() => finishTrials(db, items)),
  });
  return {
    claim: (key) => claims.submit(key),
    journal: (entry) => journals.submit(entry),
    saveTrajectory: (item) => trajectories.submit(item),
    finish: (end) => ends.submit(end),
  };
}

function keyColumns(key: TrialKey): Record<string, unknown> {
  return { evaluation_id: key.evaluation_id, case_id: key.case_id, trial_index: key.trial_index };
}

async function claimTrials(db: Db, worker: string, keys: TrialKey[]): Promise<(Claim | null)[]> {
  const { ordered } = sorted(keys, (key) => key);
  const rows = await sql<Claim & TrialKey>`
    insert into trial as t (evaluation_id, case_id, trial_index, fence, worker)
    select k.evaluation_id, k.case_id, k.trial_index, nextval('trial_fence'), ${worker}
    from jsonb_to_recordset(${toJsonb(ordered.map(keyColumns))}::jsonb) as k(evaluation_id text, case_id text, trial_index integer)
    on conflict (evaluation_id, case_id, trial_index) do update
      set fence = excluded.fence,
        deaths = t.deaths + case when t.running and t.worker <> excluded.worker then 1 else 0 end,
        worker = excluded.worker, running = true, claims = t.claims + 1, started_at = now()
      where t.status is null
    returning t.evaluation_id, t.case_id, t.trial_index, t.fence, t.trajectory_fence, t.deaths, t.model_failures, t.rate_limits, t.cost_usd,
      t.claims = 1 as first`.execute(db);
  const byKey = new Map(rows.rows.map((row) => [keyText(row), row]));
  return keys.map((key) => byKey.get(keyText(key)) ?? null);
}

const usageColumns = (usage: Usage): Record<string, number | null> => ({
  input_tokens: usage.input,
  cached_tokens: usage.cached,
  output_tokens: usage.output,
  reasoning_tokens: usage.reasoning,
  total_tokens: usage.total,
});

async function journalCalls(db: Db, entries: JournalEntry[]): Promise<boolean[]> {
  const { ordered } = sorted(entries, (entry) => entry.key);
  const input = ordered.map((entry) => ({
    ...keyColumns(entry.key),
    fence: entry.fence,
    role: entry.role,
    path: entry.path,
    dimension: entry.dimension,
    vote: entry.vote,
    sequence: entry.sequence,
    request_hash: entry.request_hash,
    response: entry.response,
    model: entry.response.model,
    ...usageColumns(entry.response.usage),
    cost_usd: entry.cost_usd,
    latency_ms: Math.round(entry.latency_ms),
  }));
  const rows = await sql<TrialKey & { fence: number }>`
    with input as (
      select * from jsonb_to_recordset(${toJsonb(input)}::jsonb) as i(evaluation_id text, case_id text, trial_index integer, fence bigint,
        role text, path text, dimension text, vote integer, sequence integer, request_hash text, response jsonb, model text,
        input_tokens bigint, cached_tokens bigint, output_tokens bigint, reasoning_tokens bigint, total_tokens bigint,
        cost_usd numeric, latency_ms integer)
    ), held as (
      select i.* from input i join trial t using (evaluation_id, case_id, trial_index) where t.fence = i.fence
    )
    insert into model_call (evaluation_id, case_id, trial_index, role, path, dimension, vote, sequence, request_hash, response, model,
      input_tokens, cached_tokens, output_tokens, reasoning_tokens, total_tokens, cost_usd, latency_ms)
    select evaluation_id, case_id, trial_index, role, path, dimension, vote, sequence, request_hash, response, model,
      input_tokens, cached_tokens, output_tokens, reasoning_tokens, total_tokens, cost_usd, latency_ms from held
    on conflict (evaluation_id, case_id, trial_index, role, path, dimension, vote, sequence) do update
      set request_hash = excluded.request_hash, response = excluded.response
    returning evaluation_id, case_id, trial_index`.execute(db);
  const written = new Set(rows.rows.map(keyText));
  return entries.map((entry) => written.has(keyText(entry.key)));
}

function trajectoryColumns(trajectory: Trajectory): Record<string, unknown> {
  return {
    final_status: trajectory.final_status,
    iterations: trajectory.iterations,
    tool_calls: trajectory.tool_calls.length,
    ...usageColumns(trajectory.usage),
    latency_ms: Math.round(latencyMs(trajectory)),
    first_token_ms: trajectory.time_to_first_token_ms === null ? null : Math.round(trajectory.time_to_first_token_ms),
  };
}

const TRAJECTORY_RECORD = sql.raw(`evaluation_id text, case_id text, trial_index integer, fence bigint, trajectory jsonb, cost_usd numeric,
  final_status text, iterations integer, tool_calls integer, input_tokens bigint, cached_tokens bigint, output_tokens bigint,
  reasoning_tokens bigint, total_tokens bigint, latency_ms integer, first_token_ms integer`);
const TRAJECTORY_ASSIGNMENTS = sql.raw(`final_status = i.final_status, iterations = i.iterations, tool_calls = i.tool_calls,
  input_tokens = i.input_tokens, cached_tokens = i.cached_tokens, output_tokens = i.output_tokens,
  reasoning_tokens = i.reasoning_tokens, total_tokens = i.total_tokens, latency_ms = i.latency_ms,
  first_token_ms = i.first_token_ms, cost_usd = i.cost_usd`);

async function saveTrajectories(
  db: Db,
  items: { key: TrialKey; fence: number; trajectory: Trajectory; cost_usd: number | null }[],
): Promise<boolean[]> {
  const { ordered } = sorted(items, (item) => item.key);
  const input = ordered.map((item) => ({
    ...keyColumns(item.key),
    fence: item.fence,
    cost_usd: item.cost_usd,
    trajectory: item.trajectory,
    ...trajectoryColumns(item.trajectory),
  }));
  const rows = await sql<TrialKey>`
    with input as (
      select * from jsonb_to_recordset(${toJsonb(input)}::jsonb) as i(${TRAJECTORY_RECORD})
    ), held as (
      update trial t set ${TRAJECTORY_ASSIGNMENTS}, trajectory_fence = i.fence, running = false, claims = 0
      from input i
      where t.evaluation_id = i.evaluation_id and t.case_id = i.case_id and t.trial_index = i.trial_index and t.fence = i.fence
      returning t.evaluation_id, t.case_id, t.trial_index, t.fence
    ), stored as (
      insert into trajectory (evaluation_id, case_id, trial_index, fence, body)
      select i.evaluation_id, i.case_id, i.trial_index, i.fence, i.trajectory
      from input i join held using (evaluation_id, case_id, trial_index)
      on conflict (evaluation_id, case_id, trial_index) do update set fence = excluded.fence, body = excluded.body
    )
    select evaluation_id, case_id, trial_index from held`.execute(db);
  const written = new Set(rows.rows.map(keyText));
  return items.map((item) => written.has(keyText(item.key)));
}

const scoreRow = (score: Score): Record<string, unknown> => ({
  scorer: score.scorer,
  dimension: score.dimension,
  value: score.value,
  passed: score.passed,
  deciding: score.deciding,
  violation: score.violation,
  reason: score.reason,
  details: score.details,
});

async function finishTrials(db: Db, ends: TrialEnd[]): Promise<boolean[]> {
  const { ordered } = sorted(ends, (end) => end.key);
  const input = ordered.map((end) => ({
    ...keyColumns(end.key),
    fence: end.fence,
    status: end.status,
    error_kind: end.error?.kind ?? null,
    error_message: end.error?.message.slice(0, 4_000) ?? null,
    has_trajectory: end.trajectory !== null,
    trajectory: end.trajectory,
    cost_usd: end.cost_usd,
    judge_cost_usd: end.judge_cost_usd,
    judge_tokens: end.judge_tokens,
    ...(end.trajectory === null ? {} : trajectoryColumns(end.trajectory)),
    scores: end.scores.map(scoreRow),
    verdicts: end.verdicts,
  }));
  const rows = await sql<TrialKey>`
    with input as materialized (
      select * from jsonb_to_recordset(${toJsonb(input)}::jsonb) as i(${TRAJECTORY_RECORD}, status text, error_kind text, error_message text,
        has_trajectory boolean, judge_cost_usd numeric, judge_tokens bigint, scores jsonb, verdicts jsonb)
    ), ended as (
      update trial t set status = i.status, error_kind = i.error_kind, error_message = i.error_message, running = false,
        finished_at = now(), judge_cost_usd = i.judge_cost_usd, judge_tokens = i.judge_tokens,
        trajectory_fence = case when i.has_trajectory then i.fence else t.trajectory_fence end,
        final_status = coalesce(i.final_status, t.final_status), iterations = coalesce(i.iterations, t.iterations),
        tool_calls = coalesce(i.tool_calls, t.tool_calls), input_tokens = coalesce(i.input_tokens, t.input_tokens),
        cached_tokens = coalesce(i.cached_tokens, t.cached_tokens), output_tokens = coalesce(i.output_tokens, t.output_tokens),
        reasoning_tokens = coalesce(i.reasoning_tokens, t.reasoning_tokens), total_tokens = coalesce(i.total_tokens, t.total_tokens),
        latency_ms = coalesce(i.latency_ms, t.latency_ms), first_token_ms = coalesce(i.first_token_ms, t.first_token_ms),
        cost_usd = coalesce(i.cost_usd, t.cost_usd)
      from input i
      where t.evaluation_id = i.evaluation_id and t.case_id = i.case_id and t.trial_index = i.trial_index and t.fence = i.fence
        and t.status is null
      returning t.evaluation_id, t.case_id, t.trial_index
    ), stored as (
      insert into trajectory (evaluation_id, case_id, trial_index, fence, body)
      select i.evaluation_id, i.case_id, i.trial_index, i.fence, i.trajectory
      from input i join ended using (evaluation_id, case_id, trial_index) where i.has_trajectory
      on conflict (evaluation_id, case_id, trial_index) do update set fence = excluded.fence, body = excluded.body
    ), scored as (
      insert into score (evaluation_id, case_id, trial_index, scorer, dimension, value, passed, deciding, violation, reason, details)
      select i.evaluation_id, i.case_id, i.trial_index, s.scorer, s.dimension, s.value, s.passed, s.deciding, s.violation, s.reason, s.details
      from input i join ended using (evaluation_id, case_id, trial_index), jsonb_to_recordset(i.scores) as s(scorer text,
        dimension text, value double precision, passed boolean, deciding boolean, violation boolean, reason text, details jsonb)
      on conflict (evaluation_id, case_id, trial_index, scorer) do update set dimension = excluded.dimension, value = excluded.value,
        passed = excluded.passed, deciding = excluded.deciding, violation = excluded.violation, reason = excluded.reason, details = excluded.details
    ), judged as (
      insert into judge_verdict (evaluation_id, case_id, trial_index, dimension, vote, prompt_hash, model, params, raw_reply, parsed, unscored_cause, reason)
      select i.evaluation_id, i.case_id, i.trial_index, v.dimension, v.vote, v.prompt_hash, v.model, v.params, v.raw_reply, v.parsed, v.unscored_cause, v.reason
      from input i join ended using (evaluation_id, case_id, trial_index), jsonb_to_recordset(i.verdicts) as v(dimension text, vote integer,
        prompt_hash text, model text, params jsonb, raw_reply text, parsed jsonb, unscored_cause text, reason text)
      on conflict (evaluation_id, case_id, trial_index, dimension, vote) do update set prompt_hash = excluded.prompt_hash, model = excluded.model,
        params = excluded.params, raw_reply = excluded.raw_reply, parsed = excluded.parsed, unscored_cause = excluded.unscored_cause, reason = excluded.reason
    )
    select evaluation_id, case_id, trial_index from ended
    union all
    -- A commit whose answer was lost: this very claim has ended the trial already.
    select t.evaluation_id, t.case_id, t.trial_index from trial t join input i
      on t.evaluation_id = i.evaluation_id and t.case_id = i.case_id and t.trial_index = i.trial_index
    where t.fence = i.fence and t.status is not null`.execute(db);
  const written = new Set(rows.rows.map(keyText));
  return ends.map((end) => written.has(keyText(end.key)));
}
