import { sql } from 'kysely';
import type { Db } from './connect.ts';

/** Ids that begin with a text, newest first. */
export async function findIdsByPrefix(db: Db, prefix: string, limit: number): Promise<string[]> {
  const rows = await sql<{ id: string }>`
    select id from evaluation where starts_with(id, ${prefix}) order by created_at desc limit ${limit}`.execute(db);
  return rows.rows.map((row) => row.id);
}

/** The newest ids. */
export async function recentIds(db: Db, limit: number): Promise<string[]> {
  const rows = await db.selectFrom('evaluation').select('id').orderBy('created_at', 'desc').limit(limit).execute();
  return rows.map((row) => row.id);
}
