import { sql } from 'kysely';
import type { Db } from '../../../src/db/connect.ts';

/** Everything stored of an evaluation that must not depend on when, where or how often it was tried. */
export interface Outcome {
  trials: unknown[];
  scores: unknown[];
  cases: unknown[];
  result: unknown;
}

const TIMES = new Set([
  'latency_ms',
  'latency_by_trial',
  'mean_latency_ms',
  'first_token_ms',
  'started_at_ms',
  'ended_at_ms',
  'time_to_first_token_ms',
]);

/** Leaves out times and what derives from them, at every depth. */
function timeless(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.filter((item) => !TIMES.has(String((item as { metric?: unknown } | null)?.metric))).map(timeless);
  }
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !TIMES.has(key))
      .map(([key, item]) => [key, timeless(item)]),
  );
}

/** Reads an evaluation's rows in a fixed order. */
export async function readOutcome(db: Db, evaluationId: string): Promise<Outcome> {
  const trials = await sql`
    select case_id, trial_index, status, error_kind, final_status, iterations, tool_calls, input_tokens, output_tokens, total_tokens,
      judge_tokens, cost_usd, judge_cost_usd
    from trial where evaluation_id = ${evaluationId} order by case_id collate "C", trial_index`.execute(db);
  const scores = await sql`
    select case_id, trial_index, scorer, dimension, value, passed, deciding, violation, reason, details from score
    where evaluation_id = ${evaluationId} order by case_id collate "C", trial_index, scorer collate "C"`.execute(db);
  const cases = await sql<{ body: unknown }>`
    select body from case_result where evaluation_id = ${evaluationId} order by case_id collate "C"`.execute(db);
  const result = await sql<{ body: unknown }>`
    select body from evaluation_result where evaluation_id = ${evaluationId}`.execute(db);
  return {
    trials: trials.rows,
    scores: scores.rows,
    cases: cases.rows.map((row) => timeless(row.body)),
    result: timeless(result.rows[0]?.body),
  };
}

export { timeless };

export interface TrialCounts {
  rows: number;
  final: number;
  distinct: number;
}

export async function countTrials(db: Db, evaluationId: string): Promise<TrialCounts> {
  const rows = await sql<TrialCounts>`
    select count(*) as rows, count(status) as final, count(distinct (case_id, trial_index)) as distinct
    from trial where evaluation_id = ${evaluationId}`.execute(db);
  return rows.rows[0] ?? { rows: 0, final: 0, distinct: 0 };
}
