import { sql, type Selectable } from 'kysely';
import type { EvaluationStatus } from '../core/evaluation.ts';
import type { Json } from '../core/json.ts';
import type { FinalStatus } from '../core/trajectory.ts';
import { type NewA2aPush, withA2aPush } from './a2a-pushes.ts';
import type { Db } from './connect.ts';
import { escapeText } from '../core/storable-text.ts';
import { toJsonb } from './escape.ts';
import type { A2aTaskTable } from './schema.ts';

export type A2aTaskRow = Selectable<A2aTaskTable>;

/** What a new task is made of. */
export type NewA2aTask = Pick<A2aTaskRow, 'id' | 'context_id' | 'served' | 'evaluation_id' | 'state' | 'note'> & {
  history: Json[];
  push_configs: Json[];
};

/** Stores a task. One of the same id is left as it is. */
export async function insertA2aTask(db: Db, task: NewA2aTask): Promise<void> {
  await db
    .insertInto('a2a_task')
    .values({
      ...task,
      context_id: escapeText(task.context_id),
      served: escapeText(task.served),
      note: task.note === null ? null : escapeText(task.note),
      history: toJsonb(task.history),
      push_configs: toJsonb(task.push_configs),
    })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute();
}

/** null when there is no such task of what is served. */
export async function findA2aTask(db: Db, served: string, id: string): Promise<A2aTaskRow | null> {
  const row = await db
    .selectFrom('a2a_task')
    .selectAll()
    .where('id', '=', escapeText(id))
    .where('served', '=', escapeText(served))
    .executeTakeFirst();
  return row ?? null;
}

/** The tasks of a context, oldest first. */
export async function a2aTasksOfContext(db: Db, served: string, contextId: string): Promise<A2aTaskRow[]> {
  return db
    .selectFrom('a2a_task')
    .selectAll()
    .where('context_id', '=', escapeText(contextId))
    .where('served', '=', escapeText(served))
    .orderBy('created_at')
    .orderBy('id')
    .execute();
}

/** What changes in a task. */
export type A2aTaskChange = Partial<Pick<NewA2aTask, 'evaluation_id' | 'state' | 'note' | 'history'>> & {
  /** A webhook more. */
  push?: NewA2aPush;
};

/** What a task must still be for a change to happen: of two messages that come together one is first. */
export type A2aTaskState = Pick<A2aTaskRow, 'state' | 'evaluation_id'>;

/**
 * Changes a task. One statement: what is set in it at the same moment is kept.
 * @returns false when it is not `from` any more, or has as many webhooks as it may: then nothing is changed
 */
export async function changeA2aTask(db: Db, id: string, change: A2aTaskChange, from?: A2aTaskState): Promise<boolean> {
  const { note, history, push, ...rest } = change;
  const added = push === undefined ? null : withA2aPush(push);
  let query = db
    .updateTable('a2a_task')
    .set({
      ...rest,
      ...(note === undefined ? {} : { note: note === null ? null : escapeText(note) }),
      ...(history === undefined ? {} : { history: toJsonb(history) }),
      ...(added === null ? {} : { push_configs: added.configs }),
      ...(change.state === undefined && history === undefined ? {} : { updated_at: sql<Date>`now()` }),
    })
    .where('id', '=', id);
  if (added !== null) query = query.where(added.fits);
  if (from !== undefined) {
    query = query.where('state', '=', from.state);
    query =
      from.evaluation_id === null
        ? query.where('evaluation_id', 'is', null)
        : query.where('evaluation_id', '=', from.evaluation_id);
  }
  const result = await query.executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/** A task in a list: what decides its state, without what it holds. */
export interface ListedA2aTask {
  id: string;
  /** Milliseconds since the epoch. */
  changed_at: number;
  state: A2aTaskRow['state'];
  evaluation_status: EvaluationStatus | null;
  /** True once the evaluation has begun. */
  begun: boolean;
  /** Of the first trial of the case that was asked for; null too where it has no trajectory. */
  final_status: FinalStatus | null;
}

/**
 * The tasks of what is served, newest change first, ids deciding between equals.
 * @param decidingCase case whose first trial's final status is given; null: none
 */
export async function listA2aTasks(
  db: Db,
  served: string,
  filter: { contextId?: string; decidingCase?: string | null } = {},
): Promise<ListedA2aTask[]> {
  const { contextId, decidingCase = null } = filter;
  const context = contextId === undefined ? sql`` : sql`and t.context_id = ${escapeText(contextId)}`;
  const joined =
    decidingCase === null
      ? { column: sql`null::text`, join: sql`` }
      : {
          column: sql`case when j.evaluation_id is not null then r.final_status end`,
          join: sql`
            left join trial r on r.evaluation_id = t.evaluation_id and r.case_id = ${escapeText(decidingCase)} and r.trial_index = 1
            left join trajectory j on j.evaluation_id = r.evaluation_id and j.case_id = r.case_id and j.trial_index = 1`,
        };
  const result = await sql<ListedA2aTask>`
    select t.id, (extract(epoch from greatest(t.updated_at, e.started_at, e.finished_at)) * 1000)::float8 as changed_at,
      t.state, e.status as evaluation_status, e.started_at is not null as begun, ${joined.column} as final_status
    from a2a_task t left join evaluation e on e.id = t.evaluation_id ${joined.join}
    where t.served = ${escapeText(served)} ${context}
    order by changed_at desc, t.id`.execute(db);
  return result.rows;
}

/** Tasks of what is served whose evaluation has not ended. */
export async function countRunningA2aTasks(db: Db, served: string): Promise<number> {
  const row = await db
    .selectFrom('a2a_task as t')
    .innerJoin('evaluation as e', 'e.id', 't.evaluation_id')
    .select((select) => select.fn.countAll<number>().as('n'))
    .where('t.served', '=', escapeText(served))
    .where('e.status', 'in', ['running', 'paused'])
    .executeTakeFirstOrThrow();
  return row.n;
}

/** Tasks of what is served whose evaluation has not ended, and ended ones whose end was not told to those who asked for it. */
export async function openA2aTasks(db: Db, served: string): Promise<A2aTaskRow[]> {
  return db
    .selectFrom('a2a_task as t')
    .leftJoin('evaluation as e', 'e.id', 't.evaluation_id')
    .selectAll('t')
    .where('t.served', '=', escapeText(served))
    .where(
      sql<boolean>`e.status in ('running', 'paused')
        or (t.push_configs <> '[]'::jsonb and coalesce(t.pushed, '') not in ('completed', 'failed', 'canceled', 'rejected'))`,
    )
    .execute();
}
