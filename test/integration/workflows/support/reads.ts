import { sql } from 'kysely';
import type { Db } from '../../../../src/db/connect.ts';

/** Trials of an evaluation by status; those without an end under `open`. */
export async function trialsByStatus(db: Db, id: string): Promise<Record<string, number>> {
  const rows = await sql<{ status: string; n: number }>`
    select coalesce(status, 'open') as status, count(*) as n from trial where evaluation_id = ${id} group by 1`.execute(
    db,
  );
  return Object.fromEntries(rows.rows.map((row) => [row.status, row.n]));
}

export interface StoredTrial {
  case_id: string;
  trial_index: number;
  status: string | null;
  final_status: string | null;
  error_kind: string | null;
  error_message: string | null;
  deaths: number;
  model_failures: number;
  rate_limits: number;
  total_tokens: number | null;
  judge_tokens: number | null;
  cost_usd: number | null;
  judge_cost_usd: number | null;
}

export async function loadTrials(db: Db, id: string): Promise<StoredTrial[]> {
  const rows = await sql<StoredTrial>`
    select case_id, trial_index, status, final_status, error_kind, error_message, deaths, model_failures, rate_limits, total_tokens,
      judge_tokens, cost_usd, judge_cost_usd
    from trial where evaluation_id = ${id} order by case_id collate "C", trial_index`.execute(db);
  return rows.rows;
}

export async function countEnded(db: Db, id: string): Promise<number> {
  const rows = await sql<{ n: number }>`
    select count(*) as n from trial where evaluation_id = ${id} and status is not null`.execute(db);
  return rows.rows[0]?.n ?? 0;
}
