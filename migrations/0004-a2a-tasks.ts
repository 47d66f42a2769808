import { sql, type Kysely } from 'kysely';

/** Tasks of `assay serve`: what an A2A client knows of an evaluation, so that any server process can answer for it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table a2a_task (
      id text primary key,
      context_id text not null,
      served text not null,
      evaluation_id text references evaluation (id) on delete cascade,
      state text not null check (state in ('waiting', 'started', 'canceled', 'rejected')),
      note text,
      history jsonb not null,
      push_configs jsonb not null,
      pushed text,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    )`.execute(db);
  await sql`create index a2a_task_served on a2a_task (served, updated_at desc, id)`.execute(db);
  await sql`create index a2a_task_context on a2a_task (context_id, created_at)`.execute(db);
  await sql`create index a2a_task_evaluation on a2a_task (evaluation_id)`.execute(db);
}
