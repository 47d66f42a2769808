import { sql } from 'kysely';
import type { EvalCase } from '../core/case.ts';
import type { ModelReply } from '../core/model.ts';
import type { Trajectory } from '../core/trajectory.ts';
import type { TrialKey } from '../core/trial.ts';
import { createBatcher } from './batch.ts';
import type { Db } from './connect.ts';
import { escapeText } from '../core/storable-text.ts';
import { isTransient, whileTransient } from './transient.ts';

export interface JournaledCall {
  role: string;
  path: string;
  dimension: string;
  vote: number;
  sequence: number;
  request_hash: string;
  response: ModelReply;
  /** Milliseconds it took when it was made. */
  latency_ms: number;
}

/** Model calls of a trial that were paid for already. */
export async function loadJournal(db: Db, key: TrialKey): Promise<JournaledCall[]> {
  return whileTransient(() =>
    db
      .selectFrom('model_call')
      .select(['role', 'path', 'dimension', 'vote', 'sequence', 'request_hash', 'response', 'latency_ms'])
      .where('evaluation_id', '=', key.evaluation_id)
      .where('case_id', '=', escapeText(key.case_id))
      .where('trial_index', '=', key.trial_index)
      .where('superseded', '=', 0)
      .orderBy('sequence')
      .execute(),
  );
}

/** The stored trajectory of a trial; null when there is none. */
export async function loadTrajectory(db: Db, key: TrialKey): Promise<Trajectory | null> {
  const row = await whileTransient(() =>
    db
      .selectFrom('trajectory')
      .select('body')
      .where('evaluation_id', '=', key.evaluation_id)
      .where('case_id', '=', escapeText(key.case_id))
      .where('trial_index', '=', key.trial_index)
      .executeTakeFirst(),
  );
  return row?.body ?? null;
}

export interface StoredCase {
  evalCase: EvalCase;
  contentHash: string;
}

/** Reads cases of the snapshot by position, several in one query. */
export function createCaseReader(db: Db): (evaluationId: string, position: number) => Promise<StoredCase> {
  interface Wanted {
    evaluationId: string;
    position: number;
  }
  const batcher = createBatcher<Wanted, StoredCase>({
    keyOf: (wanted) => `${wanted.evaluationId} ${wanted.position}`,
    parallel: 2,
    isOutage: isTransient,
    flush: (items) => whileTransient(() => loadCases(db, items)),
  });
  return (evaluationId, position) => batcher.submit({ evaluationId, position });
}

async function loadCases(db: Db, wanted: { evaluationId: string; position: number }[]): Promise<StoredCase[]> {
  const rows = await sql<{ evaluation_id: string; position: number; content: EvalCase; content_hash: string }>`
    select c.evaluation_id, c.position, c.content, c.content_hash
    from unnest(${wanted.map((item) => item.evaluationId)}::text[], ${wanted.map((item) => item.position)}::integer[]) as w(evaluation_id, position)
    join evaluation_case c using (evaluation_id, position)`.execute(db);
  const byKey = new Map(rows.rows.map((row) => [`${row.evaluation_id} ${row.position}`, row]));
  return wanted.map((item) => {
    const row = byKey.get(`${item.evaluationId} ${item.position}`);
    if (row === undefined) throw new Error(`evaluation ${item.evaluationId} has no case at position ${item.position}`);
    return { evalCase: row.content, contentHash: row.content_hash };
  });
}

/** What a trial's journaled calls cost, for a trial that ended without a trajectory. Null = a call without a price. */
export async function loadTrialSpend(
  db: Db,
  key: TrialKey,
): Promise<{ cost_usd: number | null; judge_cost_usd: number | null; judge_tokens: number | null }> {
  const rows = await whileTransient(() =>
    sql<{ role: string; cost: number | null; tokens: number | null; calls: number; priced: number }>`
      select role, sum(cost_usd) as cost, sum(total_tokens) as tokens, count(*) as calls, count(cost_usd) as priced
      from model_call where evaluation_id = ${key.evaluation_id} and case_id = ${escapeText(key.case_id)}
        and trial_index = ${key.trial_index} group by role`.execute(db),
  );
  const of = (role: string): { cost: number | null; tokens: number | null } => {
    const row = rows.rows.find((one) => one.role === role);
    if (row === undefined) return { cost: 0, tokens: 0 };
    return { cost: row.priced < row.calls ? null : row.cost, tokens: row.tokens };
  };
  return { cost_usd: of('agent').cost, judge_cost_usd: of('judge').cost, judge_tokens: of('judge').tokens };
}
