import { probeDatabase, serverVersion } from '../db/ensure-database.ts';
import { migrationStatus } from '../db/migrate.ts';
import { fail, ok, redact, warn, type Check } from './check.ts';
import type { Env } from './env.ts';
import { embeddedDatabaseUrl } from './postgres-server.ts';
import { isAlive } from './process-identity.ts';
import { readStackRecord } from './stack-record.ts';

/** Reachable, version, migrations. An embedded server that is not running is in order. */
export async function checkPostgres(env: Env, home: string): Promise<Check[]> {
  const configured = env['DATABASE_URL'] ?? '';
  const url = configured === '' ? embeddedUrl(home) : configured;
  if (url === null) return [ok('Postgres', 'embedded; not running, starts with the next run or `assay up`')];
  if (!URL.canParse(url)) {
    return [
      fail('Postgres', 'DATABASE_URL is not an address', 'Expected postgresql://USER:PASSWORD@HOST:PORT/DATABASE.'),
    ];
  }
  const { hostname, port, pathname, password } = new URL(url);
  const place = `${hostname}:${port === '' ? '5432' : port}${pathname}`;
  const problem = await probeDatabase(url);
  if (problem !== null) {
    const hint = configured === '' ? 'The next run or `assay up` starts it again.' : 'Check DATABASE_URL, or unset it.';
    return [fail('Postgres', `${place}: ${redact(problem, [password, decodeURIComponent(password)])}`, hint)];
  }
  return [ok('Postgres', `${place}, server ${await serverVersion(url)}`), await checkMigrations(url)];
}

function embeddedUrl(home: string): string | null {
  const recorded = readStackRecord(home, () => undefined).postgres;
  if (!recorded?.process || !isAlive(recorded.process)) return null;
  return embeddedDatabaseUrl(home, recorded.port);
}

async function checkMigrations(url: string): Promise<Check> {
  const status = await migrationStatus(url);
  if (status.unknown.length > 0) {
    const detail = `the database is newer than this Assay (${status.unknown.join(', ')})`;
    return fail('Migrations', detail, 'Update Assay, or use another database.');
  }
  if (status.changed.length > 0) {
    const detail = `the database was made by another build of Assay (another ${status.changed.join(', ')})`;
    return fail('Migrations', detail, 'Use the Assay that made it, or an empty database.');
  }
  if (status.pending.length === 0) return ok('Migrations', `${status.applied.length} applied`);
  return warn('Migrations', `waiting: ${status.pending.join(', ')}`, 'The next run applies them; or: assay db migrate');
}
