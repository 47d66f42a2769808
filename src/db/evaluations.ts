import { sql, type Selectable } from 'kysely';
import type { EvaluationStatus, Stop } from '../core/evaluation.ts';
import type { Suite } from '../core/suite.ts';
import type { Db } from './connect.ts';
import { escapeText } from '../core/storable-text.ts';
import { toJsonb } from './escape.ts';
import type { EvaluationTable } from './schema.ts';

export type EvaluationRow = Selectable<EvaluationTable>;

/** null when there is no such evaluation. */
export async function findEvaluation(db: Db, id: string): Promise<EvaluationRow | null> {
  const row = await db.selectFrom('evaluation').selectAll().where('id', '=', id).executeTakeFirst();
  return row ?? null;
}

/** @throws Error when there is no such evaluation: it was deleted under way. */
export async function requireEvaluation(db: Db, id: string): Promise<EvaluationRow> {
  const row = await findEvaluation(db, id);
  if (row === null) throw new Error(`there is no evaluation ${id}`);
  return row;
}

/** The newest evaluation of all, or of a suite; null when there is none. */
export async function findNewest(db: Db, suite?: string): Promise<EvaluationRow | null> {
  let query = db.selectFrom('evaluation').selectAll().orderBy('created_at', 'desc').limit(1);
  if (suite !== undefined) query = query.where('suite', '=', escapeText(suite));
  return (await query.executeTakeFirst()) ?? null;
}

/** The newest unfinished evaluation of the same suite, data, agent and number of planned trials: what `run` joins. */
export async function findJoinable(
  db: Db,
  wanted: { suite: string; hashes: { suite: string; data: string; agent: string }; plannedTrials: number },
): Promise<EvaluationRow | null> {
  const row = await db
    .selectFrom('evaluation')
    .selectAll()
    .where('suite', '=', escapeText(wanted.suite))
    .where('status', 'in', ['running', 'paused', 'stopped'])
    .where('suite_hash', '=', wanted.hashes.suite)
    .where('data_hash', '=', wanted.hashes.data)
    .where('agent_hash', '=', wanted.hashes.agent)
    .where('planned_trials', '=', wanted.plannedTrials)
    .where('source_evaluation_id', 'is', null)
    .orderBy('created_at', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row ?? null;
}

export interface EvaluationFilter {
  suite?: string;
  status?: EvaluationStatus;
  scheduleId?: string;
  /** Default 20. */
  limit?: number;
}

/** Newest first. */
export async function listEvaluations(db: Db, filter: EvaluationFilter = {}): Promise<EvaluationRow[]> {
  let query = db
    .selectFrom('evaluation')
    .selectAll()
    .orderBy('created_at', 'desc')
    .limit(filter.limit ?? 20);
  if (filter.suite !== undefined) query = query.where('suite', '=', escapeText(filter.suite));
  if (filter.status !== undefined) query = query.where('status', '=', filter.status);
  if (filter.scheduleId !== undefined) query = query.where('schedule_id', '=', filter.scheduleId);
  return query.execute();
}

/** Marks the start. The first start time is kept over resumes. */
export async function markStarted(db: Db, id: string): Promise<void> {
  await sql`update evaluation set started_at = coalesce(started_at, now()) where id = ${id}`.execute(db);
}

/** What a resume may change of an evaluation. */
export interface ReopenChanges {
  budgetUsd?: number;
  concurrency?: number;
  failFast?: boolean;
  baselineLabel?: string;
  labels?: Record<string, string>;
  judgeCache?: boolean;
  /** The stored suite with other addresses or names of secrets. */
  definition?: Suite;
}

/**
 * Opens an evaluation for more work (resume, retry): status running, a new revision so that workers drop what they
 * remember of it. Returns the new revision.
 */
export async function reopenEvaluation(db: Db, id: string, changes: ReopenChanges = {}): Promise<number> {
  const definition =
    changes.definition === undefined ? sql<string>`definition` : sql<string>`${toJsonb(changes.definition)}::jsonb`;
  const row = await db
    .updateTable('evaluation')
    .set((e) => ({
      status: 'running' as const,
      stop_kind: null,
      stop_message: null,
      finished_at: null,
      exit_code: null,
      verdict: null,
      revision: e('revision', '+', 1),
      ...(changes.definition === undefined ? {} : { definition }),
      // The budget gate reads the definition: a raised budget must not be judged by the old one.
      ...(changes.budgetUsd === undefined
        ? {}
        : {
            budget_usd: changes.budgetUsd,
            definition: sql<string>`jsonb_set(${definition}, '{budget_usd}', to_jsonb(${changes.budgetUsd}::numeric))`,
          }),
      ...(changes.concurrency === undefined ? {} : { concurrency: changes.concurrency }),
      ...(changes.failFast === undefined ? {} : { fail_fast: changes.failFast }),
      ...(changes.baselineLabel === undefined ? {} : { baseline_label: changes.baselineLabel }),
      ...(changes.labels === undefined ? {} : { labels: toJsonb(changes.labels) }),
      ...(changes.judgeCache === undefined ? {} : { judge_cache: changes.judgeCache }),
    }))
    .where('id', '=', id)
    .returning('revision')
    .executeTakeFirstOrThrow();
  return row.revision;
}

/** Pauses or unpauses; false when the evaluation is in no state for it. */
export async function setPaused(db: Db, id: string, paused: boolean): Promise<boolean> {
  const result = await db
    .updateTable('evaluation')
    .set({ status: paused ? 'paused' : 'running' })
    .where('id', '=', id)
    .where('status', '=', paused ? 'running' : 'paused')
    .executeTakeFirst();
  if (paused) await sql`select pg_notify('assay_pause', ${id})`.execute(db);
  return result.numUpdatedRows > 0n;
}

/**
 * Writes the end of an evaluation: status, exit code and verdict in one statement.
 * @returns false when it has another revision by now (resumed or retried): then nothing is written.
 */
export async function markEnded(
  db: Db,
  id: string,
  end: { status: EvaluationStatus; stop: Stop | null; exitCode: number; verdict: string; revision: number },
): Promise<boolean> {
  const result = await db
    .updateTable('evaluation')
    .set({
      status: end.status,
      stop_kind: end.stop?.kind ?? null,
      stop_message: end.stop === null ? null : escapeText(end.stop.message),
      exit_code: end.exitCode,
      verdict: escapeText(end.verdict),
      // Never before its start, also where the clock was set back meanwhile.
      finished_at: sql<Date>`greatest(now(), started_at)`,
    })
    .where('id', '=', id)
    .where('revision', '=', end.revision)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/**
 * Removes an evaluation and everything of it. Baselines that point to it must be moved first.
 * False when it runs or is paused (by now), or is gone: then nothing is removed.
 */
export async function deleteEndedEvaluation(db: Db, id: string): Promise<boolean> {
  const ended = ['completed', 'stopped', 'canceled'] as const;
  const result = await db.deleteFrom('evaluation').where('id', '=', id).where('status', 'in', ended).executeTakeFirst();
  return result.numDeletedRows > 0n;
}

/** Tells every worker to end the model calls of an evaluation at once. */
export async function notifyCancel(db: Db, id: string): Promise<void> {
  await sql`select pg_notify('assay_cancel', ${id})`.execute(db);
}
