import { sql, type Selectable } from 'kysely';
import type { Json } from '../core/json.ts';
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
export type A2aTaskChange = Partial<
  Pick<NewA2aTask, 'evaluation_id' | 'state' | 'note' | 'history' | 'push_configs'>
> & {
  pushed?: string;
};

/**
 * Changes a task.
 * @param from the state it must be in; false when it is in another one (somebody was faster)
 */
export async function changeA2aTask(
  db: Db,
  id: string,
  change: A2aTaskChange,
  from?: A2aTaskRow['state'],
): Promise<boolean> {
  const { note, history, push_configs: configs, ...rest } = change;
  let query = db
    .updateTable('a2a_task')
    .set({
      ...rest,
      ...(note === undefined ? {} : { note: note === null ? null : escapeText(note) }),
      ...(history === undefined ? {} : { history: toJsonb(history) }),
      ...(configs === undefined ? {} : { push_configs: toJsonb(configs) }),
      // What was told to somebody is no change of the task.
      ...(change.state === undefined && history === undefined ? {} : { updated_at: sql<Date>`now()` }),
    })
    .where('id', '=', id);
  if (from !== undefined) query = query.where('state', '=', from);
  const result = await query.executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/** A task beside the state of its evaluation, for lists: newest change first. */
export interface A2aTaskPlace {
  id: string;
  context_id: string;
  state: A2aTaskRow['state'];
  evaluation_status: string | null;
  /** Milliseconds since the epoch of its last change. */
  changed_at: number;
}

/** The tasks of what is served, newest change first, ids deciding between equals. */
export async function listA2aTasks(
  db: Db,
  served: string,
  filter: { contextId?: string } = {},
): Promise<A2aTaskPlace[]> {
  const context = filter.contextId === undefined ? sql`` : sql`and t.context_id = ${escapeText(filter.contextId)}`;
  const result = await sql<A2aTaskPlace>`
    select t.id, t.context_id, t.state, e.status as evaluation_status,
      (extract(epoch from greatest(t.updated_at, e.started_at, e.finished_at)) * 1000)::float8 as changed_at
    from a2a_task t left join evaluation e on e.id = t.evaluation_id
    where t.served = ${escapeText(served)} ${context}
    order by changed_at desc, t.id`.execute(db);
  return result.rows;
}

/** Tasks of what is served whose evaluation has not ended, and ended ones whose end was not told to those who asked for it. */
export async function openA2aTasks(db: Db, served: string): Promise<A2aTaskRow[]> {
  return db
    .selectFrom('a2a_task as t')
    .leftJoin('evaluation as e', 'e.id', 't.evaluation_id')
    .selectAll('t')
    .where('t.served', '=', escapeText(served))
    .where((where) =>
      where.or([
        where('e.status', 'in', ['running', 'paused']),
        where.and([
          where(sql<boolean>`t.push_configs <> '[]'::jsonb`, '=', true),
          where(sql<boolean>`coalesce(t.pushed, '') not in ('completed', 'failed', 'canceled', 'rejected')`, '=', true),
        ]),
      ]),
    )
    .execute();
}
