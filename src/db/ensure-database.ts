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

/** Creates the database that the address names, when the server does not have it. */
export async function ensureDatabase(databaseUrl: string): Promise<void> {
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
