import { Client, DatabaseError, type QueryArrayConfig } from 'pg';
import { columnTypes } from './connect.ts';

export interface QueryResult {
  columns: string[];
  rows: unknown[][];
  /** True when there were more rows than asked for. */
  more: boolean;
}

/** These answer rows but cannot be read through a cursor. */
const NO_CURSOR = /^\s*(?:explain|show)\b/i;

const CURSOR = 'declare assay_rows no scroll cursor for ';

/**
 * Runs one statement that only reads: in a read-only transaction, with a statement timeout, through a cursor that
 * fetches no more rows than wanted. The extended protocol takes a single statement, so nothing can leave the transaction.
 * @param options.timeoutMs default 30,000
 */
export async function readOnlyQuery(
  databaseUrl: string,
  text: string,
  options: { limit: number; timeoutMs?: number },
): Promise<QueryResult> {
  const client = new Client({
    connectionString: databaseUrl,
    application_name: 'assay sql',
    connectionTimeoutMillis: 10_000,
    types: columnTypes,
  });
  client.on('error', () => undefined);
  await client.connect();
  try {
    await client.query('begin transaction read only');
    await client.query(`set local statement_timeout = ${options.timeoutMs ?? 30_000}`);
    const statement = text.replace(/[\s;]+$/, '');
    if (NO_CURSOR.test(statement)) return await fetchRows(client, statement, options.limit);
    await client.query(single(`${CURSOR}${statement}`)).catch((error: unknown) => {
      throw atOwnPosition(error);
    });
    return await fetchRows(client, `fetch ${options.limit + 1} from assay_rows`, options.limit);
  } finally {
    await client.end();
  }
}

/** Postgres counts from the start of what it was sent; the user wrote only the rest. */
function atOwnPosition(error: unknown): unknown {
  if (!(error instanceof DatabaseError) || error.position === undefined) return error;
  const position = Number(error.position) - CURSOR.length;
  error.position = position < 1 ? undefined : String(position);
  return error;
}

async function fetchRows(client: Client, text: string, limit: number): Promise<QueryResult> {
  const result = await client.query<unknown[]>(single(text));
  const rows = result.rows;
  return { columns: result.fields.map((field) => field.name), rows: rows.slice(0, limit), more: rows.length > limit };
}

/** The extended protocol, which refuses several statements in one text; pg's types do not know the option yet. */
function single(text: string): QueryArrayConfig {
  const query: QueryArrayConfig & { queryMode: 'extended' } = { text, rowMode: 'array', queryMode: 'extended' };
  return query;
}
