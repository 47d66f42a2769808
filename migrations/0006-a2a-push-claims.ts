import { sql, type Kysely } from 'kysely';

/** Of servers that follow one task, the one that tells its webhooks, and until when it is taken to be alive. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table a2a_task add column pusher text, add column pusher_until timestamptz`.execute(db);
}
