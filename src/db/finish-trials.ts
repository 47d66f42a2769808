import { sql } from 'kysely';
import type { Score } from '../core/score.ts';
import type { TrialKey } from '../core/trial.ts';
import { callRow, callsOf } from './call-rows.ts';
import type { Db } from './connect.ts';
import { toJsonb } from './escape.ts';
import { keyColumns, keyText, sorted, TRAJECTORY_RECORD, trajectoryColumns, type TrialEnd } from './trial-rows.ts';

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

const endRow = (end: TrialEnd): Record<string, unknown> => ({
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
  calls: (end.calls ?? []).map(callRow),
});

/**
 * Verdicts of the ended trials; those with a key go into the cache too. There in the order of the keys: writers of the
 * same verdicts wait for each other, never in a circle.
 */
const VERDICT_WRITES = sql.raw(`verdict as (
      select i.evaluation_id, i.case_id, i.trial_index, v.*
      from input i join ended using (evaluation_id, case_id, trial_index), jsonb_to_recordset(i.verdicts) as v(dimension text, vote integer,
        round integer, prompt_hash text, model text, params jsonb, raw_reply text, parsed jsonb, value double precision, passed boolean,
        unscored_cause text, reason text, cached_from text, cache_key text)
    ), judged as (
      insert into judge_verdict (evaluation_id, case_id, trial_index, dimension, vote, round, prompt_hash, model, params, raw_reply, parsed,
        value, passed, unscored_cause, reason, cached_from)
      select evaluation_id, case_id, trial_index, dimension, vote, round, prompt_hash, model, params, raw_reply, parsed,
        value, passed, unscored_cause, reason, cached_from from verdict
      on conflict (evaluation_id, case_id, trial_index, dimension, vote) do update set round = excluded.round, prompt_hash = excluded.prompt_hash,
        model = excluded.model, params = excluded.params, raw_reply = excluded.raw_reply, parsed = excluded.parsed, value = excluded.value,
        passed = excluded.passed, unscored_cause = excluded.unscored_cause, reason = excluded.reason, cached_from = excluded.cached_from
    ), kept as (
      insert into verdict_cache (key, evaluation_id, dimension, prompt_hash, model, params, raw_reply)
      select distinct on (cache_key) cache_key, evaluation_id, dimension, prompt_hash, model, params, raw_reply
      from verdict where cache_key is not null order by cache_key
      on conflict (key) do nothing
    )`);

/** Ends trials with everything that belongs to the end, in one statement: there is no half trial. */
export async function finishTrials(db: Db, ends: TrialEnd[]): Promise<boolean[]> {
  const ordered = sorted(ends, (end) => end.key);
  const input = ordered.map(endRow);
  const rows = await sql<TrialKey>`
    with input as materialized (
      select * from jsonb_to_recordset(${toJsonb(input)}::jsonb) as i(${TRAJECTORY_RECORD}, status text, error_kind text, error_message text,
        has_trajectory boolean, judge_cost_usd numeric, judge_tokens bigint, scores jsonb, verdicts jsonb, calls jsonb)
    ), ended as (
      update trial t set status = i.status, error_kind = i.error_kind, error_message = i.error_message, running = false,
        finished_at = greatest(now(), t.started_at), judge_cost_usd = i.judge_cost_usd, judge_tokens = i.judge_tokens,
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
    ), ${callsOf('ended')}, ${VERDICT_WRITES}
    select evaluation_id, case_id, trial_index from ended
    union all
    -- A commit whose answer was lost: this very claim has ended the trial already.
    select t.evaluation_id, t.case_id, t.trial_index from trial t join input i
      on t.evaluation_id = i.evaluation_id and t.case_id = i.case_id and t.trial_index = i.trial_index
    where t.fence = i.fence and t.status is not null`.execute(db);
  const written = new Set(rows.rows.map(keyText));
  return ends.map((end) => written.has(keyText(end.key)));
}
