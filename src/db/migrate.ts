import { existsSync, promises as fs } from 'node:fs';
import path from 'node:path';
import { sql } from 'kysely';
import { FileMigrationProvider, Migrator } from 'kysely/migration';
import { installedPackage } from '../core/installed-package.ts';
import { OtherSchemaError, UserError } from '../core/errors.ts';
import { connect, type Db } from './connect.ts';
import { migrationHashes, storedHashes, storeHashes } from './migration-hashes.ts';
import type { Patience } from './patience.ts';
import { isTransient, isUnresolved, whileTransient } from './transient.ts';

/** Beside src/ in a checkout, beside dist/src/ in the package. */
function migrationFolder(): string {
  const folder = path.join(installedPackage().code, 'migrations');
  if (!existsSync(folder)) throw new UserError(`migrations are missing: ${folder}`, { hint: 'reinstall assay' });
  return folder;
}

function migrationFiles(): FileMigrationProvider {
  return new FileMigrationProvider({ fs, path, migrationFolder: migrationFolder() });
}

/**
 * Brings the schema up to date, under an advisory lock (two starts at once: one migrates, the other waits).
 * @throws UserError when the database is newer than this version of assay, or was made by other migrations.
 */
export async function migrate(databaseUrl: string): Promise<{ applied: string[] }> {
  const db = connect(databaseUrl, { poolSize: 2 });
  try {
    const status = await readStatus(db);
    refuseOtherSchema(status);
    if (status.pending.length === 0) return { applied: [] };
    const provider = migrationFiles();
    const { error, results } = await new Migrator({ db, provider }).migrateToLatest();
    if (error !== undefined) throw error;
    const applied = (results ?? []).map((result) => result.migrationName);
    const hashes = await migrationHashes(await provider.getMigrations());
    if (applied.length > 0) await storeHashes(db, new Map([...hashes].filter(([name]) => applied.includes(name))));
    return { applied };
  } finally {
    await db.destroy();
  }
}

export interface MigrationStatus {
  applied: string[];
  pending: string[];
  /** Applied by a newer version of assay. */
  unknown: string[];
  /** Applied, but with other statements than those of this version. */
  changed: string[];
}

/**
 * Which migrations are applied, which wait, and which this version does not know.
 * @param patience with a Postgres that is starting or restarting; default 10 s without a word.
 * @throws UserError (exit 4) when it cannot be used.
 */
export async function migrationStatus(
  databaseUrl: string,
  patience: Patience = (operation) =>
    whileTransient(operation, 10_000, undefined, (error) => isTransient(error) && !isUnresolved(error)),
): Promise<MigrationStatus> {
  const db = connect(databaseUrl, { poolSize: 1 });
  try {
    return await patience(() => readStatus(db));
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new UserError(`Postgres cannot be used: ${message}`, {
      hint: 'check DATABASE_URL (host, user, password, database), or unset it to use the embedded Postgres',
      exitCode: 4,
      cause: error,
    });
  } finally {
    await db.destroy();
  }
}

/** @throws UserError when the schema is not the one this version works with. */
export async function requireCurrentSchema(databaseUrl: string, patience?: Patience): Promise<void> {
  requireCurrent(await migrationStatus(databaseUrl, patience));
}

/** @throws UserError when the status is not that of the schema this version works with. */
export function requireCurrent(status: MigrationStatus): void {
  refuseOtherSchema(status);
  if (status.pending.length > 0) {
    throw new UserError(`the database lacks ${status.pending.length} migration(s): ${status.pending.join(', ')}`, {
      hint: 'run `assay db migrate`',
      exitCode: 4,
    });
  }
}

async function readStatus(db: Db): Promise<MigrationStatus> {
  const known = (await fs.readdir(migrationFolder()))
    .filter((name) => /^\d.*\.(ts|js)$/.test(name) && !name.endsWith('.d.ts'))
    .map((name) => name.replace(/\.(ts|js)$/, ''))
    .sort();
  const table = await sql<{ exists: boolean }>`select to_regclass('kysely_migration') is not null as exists`.execute(
    db,
  );
  if (table.rows[0]?.exists !== true) return { applied: [], pending: known, unknown: [], changed: [] };
  const rows = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(db);
  const applied = rows.rows.map((row) => row.name);
  return {
    applied,
    pending: known.filter((name) => !applied.includes(name)),
    unknown: applied.filter((name) => !known.includes(name)),
    changed: await changedMigrations(db),
  };
}

/** A database that does not say what it was made with is believed. */
async function changedMigrations(db: Db): Promise<string[]> {
  const stored = await storedHashes(db);
  if (stored.size === 0) return [];
  const own = await migrationHashes(await migrationFiles().getMigrations());
  return [...own].filter(([name, hash]) => (stored.get(name) ?? hash) !== hash).map(([name]) => name);
}

/** @throws UserError when the schema is a newer one, or one of another build. */
export function refuseOtherSchema(status: Pick<MigrationStatus, 'unknown' | 'changed'>): void {
  if (status.unknown.length > 0) throw newerSchema(status.unknown);
  if (status.changed.length > 0) throw new OtherSchemaError(`it has another ${status.changed.join(', ')}`);
}

function newerSchema(unknown: string[]): UserError {
  return new UserError(`the database was migrated by a newer assay (it has ${unknown.join(', ')})`, {
    hint: 'update assay, or point DATABASE_URL at another database',
    exitCode: 4,
  });
}
