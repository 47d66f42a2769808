import { Client, DatabaseError, escapeIdentifier } from 'pg';

/** Bound on connecting, in milliseconds. */
const CONNECT_TIMEOUT_MS = 2000;

/** Can this database server be reached and logged in to? null, or why not. A missing database counts as reached. */
export async function probeDatabase(databaseUrl: string): Promise<string | null> {
  try {
    await withClient(databaseUrl, async (client) => client.query('SELECT 1'), CONNECT_TIMEOUT_MS);
    return null;
  } catch (error) {
    if (error instanceof DatabaseError && error.code === '3D000') return null;
    return error instanceof Error ? error.message || error.name : String(error);
  }
}

/**
 * Creates the database that the address names, when the server does not have it, on a server that may be too busy to answer:
 * null when it is there, else why it cannot be known yet. Asking again does no harm.
 */
export async function tryEnsureDatabase(databaseUrl: string): Promise<string | null> {
  try {
    await ensureDatabase(databaseUrl);
    return null;
  } catch (error) {
    // A server that answered in time and said no says the same again.
    if (error instanceof DatabaseError && !PASSING.has(error.code ?? '')) throw error;
    return error instanceof Error ? error.message || error.name : String(error);
  }
}

/** Starting up, shutting down, too many connections; and what an earlier attempt, given up on, has created meanwhile. */
const PASSING: ReadonlySet<string> = new Set(['57P03', '57P01', '53300', '42P04', '23505']);

/** Creates the database that the address names, when the server does not have it. */
async function ensureDatabase(databaseUrl: string): Promise<void> {
  const name = decodeURIComponent(new URL(databaseUrl).pathname.slice(1));
  const maintenance = new URL(databaseUrl);
  maintenance.pathname = '/postgres';
  await withClient(maintenance.href, async (client) => {
    const found = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [name]);
    if (found.rowCount === 0) await client.query(`CREATE DATABASE ${escapeIdentifier(name)}`);
  });
}

/** Version of the server, such as `18.4`. */
export async function serverVersion(databaseUrl: string): Promise<string> {
  return withClient(databaseUrl, async (client) => {
    const result = await client.query<{ server_version: string }>('SHOW server_version');
    return result.rows[0]?.server_version ?? 'unknown';
  });
}

async function withClient<T>(
  databaseUrl: string,
  work: (client: Client) => Promise<T>,
  queryTimeoutMs = 30_000,
): Promise<T> {
  const client = new Client({
    connectionString: databaseUrl,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: queryTimeoutMs,
    application_name: 'assay',
  });
  // A server that goes away emits this beside rejecting the query; unheard, it would end the process (R14).
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
