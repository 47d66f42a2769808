import { sql, type Kysely } from 'kysely';

/**
 * Valid replies of judges, to be used again by other evaluations. An entry goes with the evaluation that paid for it:
 * its text may quote what was judged.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table verdict_cache (
      key text primary key,
      evaluation_id text not null references evaluation (id) on delete cascade,
      dimension text not null,
      prompt_hash text not null,
      model text,
      params jsonb not null,
      raw_reply text not null,
      created_at timestamptz not null default now()
    )`.execute(db);
  await sql`create index verdict_cache_by_evaluation on verdict_cache (evaluation_id)`.execute(db);
}
