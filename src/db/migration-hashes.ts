import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler, sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import { hashText } from '../core/hash.ts';
import type { Db } from './connect.ts';

/**
 * A hash of the statements of each migration, the same from `.ts` and from what they compile to. Spaces and line breaks
 * do not count.
 */
export async function migrationHashes(migrations: Readonly<Record<string, Migration>>): Promise<Map<string, string>> {
  const hashes = new Map<string, string>();
  for (const [name, migration] of Object.entries(migrations)) hashes.set(name, await hashOf(migration));
  return hashes;
}

/** Runs a migration on a database that is none, and notes what it asks for. */
async function hashOf(migration: Migration): Promise<string> {
  const statements: string[] = [];
  const nowhere = new Kysely<unknown>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
    log(event) {
      statements.push(event.query.sql.replaceAll(/\s+/g, ' ').trim());
    },
  });
  await migration.up(nowhere);
  return hashText(statements.join(';\n'));
}

/** The hashes a database was made with; empty when it does not say. Kept as the comment of the table of migrations. */
export async function storedHashes(db: Db): Promise<Map<string, string>> {
  const rows = await sql<{ comment: string | null }>`
    select obj_description(to_regclass('kysely_migration'), 'pg_class') as comment`.execute(db);
  const comment = rows.rows[0]?.comment ?? null;
  if (comment?.startsWith('{') !== true) return new Map();
  return new Map(Object.entries(JSON.parse(comment) as Record<string, string>));
}

/** Adds hashes of migrations that have just been applied. */
export async function storeHashes(db: Db, applied: ReadonlyMap<string, string>): Promise<void> {
  const all = Object.fromEntries([...(await storedHashes(db)), ...applied]);
  await sql`comment on table kysely_migration is ${sql.lit(JSON.stringify(all))}`.execute(db);
}
