import { sql } from 'kysely';
import type { EvalCase } from '../core/case.ts';
import type { Db } from './connect.ts';
import { escapeText } from '../core/storable-text.ts';

export interface SnapshotCase {
  case_id: string;
  content_hash: string;
}

/** Ids and content hashes of the cases of an evaluation, in their order. */
export async function loadSnapshot(db: Db, evaluationId: string): Promise<SnapshotCase[]> {
  return db
    .selectFrom('evaluation_case')
    .select(['case_id', 'content_hash'])
    .where('evaluation_id', '=', evaluationId)
    .orderBy('position')
    .execute();
}

/** True when every case of an evaluation carries this number of trials itself: it was started with `--trials`. */
export async function everyCaseSaysTrials(db: Db, evaluationId: string, trials: number): Promise<boolean> {
  const rows = await sql<{ all_say: boolean | null }>`
    select bool_and(coalesce((content->>'trials')::integer, -1) = ${trials}) as all_say
    from evaluation_case where evaluation_id = ${evaluationId}`.execute(db);
  return rows.rows[0]?.all_say === true;
}

/** A case as the evaluation keeps it; null when the evaluation has none of this id. */
export async function loadCase(db: Db, evaluationId: string, caseId: string): Promise<EvalCase | null> {
  const row = await db
    .selectFrom('evaluation_case')
    .select('content')
    .where('evaluation_id', '=', evaluationId)
    .where('case_id', '=', escapeText(caseId))
    .executeTakeFirst();
  return row?.content ?? null;
}

/** Trials of an evaluation without an end. */
export async function countMissing(db: Db, evaluationId: string): Promise<number> {
  const rows = await sql<{ missing: number }>`
    select e.planned_trials - (select count(*) from trial t where t.evaluation_id = e.id and t.status is not null) as missing
    from evaluation e where e.id = ${evaluationId}`.execute(db);
  return rows.rows[0]?.missing ?? 0;
}

/** Every case of an evaluation in its order, with its trials planned. */
export async function loadCases(
  db: Db,
  evaluationId: string,
): Promise<{ evalCase: EvalCase; contentHash: string; trials: number }[]> {
  const rows = await db
    .selectFrom('evaluation_case')
    .select(['content', 'content_hash', 'trials'])
    .where('evaluation_id', '=', evaluationId)
    .orderBy('position')
    .execute();
  return rows.map((row) => ({ evalCase: row.content, contentHash: row.content_hash, trials: row.trials }));
}
