import { spawn } from 'node:child_process';
import { DatabaseError } from 'pg';
import { nearest } from '../../core/did-you-mean.ts';
import { EXIT, UserError } from '../../core/errors.ts';
import { NAMED_QUERIES } from '../../db/named-queries.ts';
import { type QueryResult, readOnlyQuery } from '../../db/read-only-query.ts';
import { displayWidth, padEnd, table, truncate } from '../../report/align.ts';
import { cleanText } from '../../report/clean.ts';
import { plural } from '../../report/format.ts';
import type { CommandContext } from '../context.ts';
import { type Database, withDatabase } from '../database.ts';
import { ExitSignal } from '../exit-signal.ts';
import { shownAddress } from '../stack/shown-address.ts';
import { stopSignal } from '../stop-signal.ts';
import { tableWidth } from '../table-width.ts';

export interface SqlFlags {
  limit: number;
  psql?: boolean;
  showPassword?: boolean;
  json?: boolean;
}

const CELL_WIDTH = 80;

/** Runs what `assay sql` was asked for. */
export async function runSql(context: CommandContext, query: string | undefined, flags: SqlFlags): Promise<void> {
  const text = query === undefined ? null : statementOf(query);
  await withDatabase(context, async (database) => {
    if (flags.psql === true) await openPsql(context, database.url, text);
    else if (text === null) context.stdout(flags.json === true ? hintJson(database, flags) : hintText(database, flags));
    else await printRows(context, database, text, flags);
  });
}

/** @throws UserError for one word that is no named query. */
export function statementOf(query: string): string {
  const named = NAMED_QUERIES.find((one) => one.name === query);
  if (named !== undefined) return named.sql;
  if (/\s/.test(query.trim())) return query;
  const names = NAMED_QUERIES.map((one) => one.name);
  const near = nearest(query, names);
  throw new UserError(`There is no named query "${query}"${near === null ? '' : ` (did you mean "${near}"?)`}.`, {
    hint: `There are: ${names.join(', ')}; or write a select statement in quotes.`,
  });
}

async function printRows(context: CommandContext, database: Database, text: string, flags: SqlFlags): Promise<void> {
  const result = await database
    .patience(() => readOnlyQuery(database.url, text, { limit: flags.limit }))
    .catch((error: unknown) => {
      throw refused(error);
    });
  if (flags.json === true) context.stdout(rowsJson(result));
  else context.stdout(rowsText(result, tableWidth(context)));
  if (result.more) context.stderr(`only the first ${flags.limit} rows; --limit asks for more\n`);
}

/** What Postgres says of a statement is the user's to mend. */
function refused(error: unknown): unknown {
  if (!(error instanceof DatabaseError)) return error;
  const place = error.position === undefined ? '' : ` (at character ${error.position})`;
  const hints: Record<string, string> = {
    '57014': 'It ran longer than 30 s; narrow it down, for example by evaluation_id.',
    '0A000': 'Only statements that read are run here; --psql opens a session that may write.',
    '25006': 'Only statements that read are run here; --psql opens a session that may write.',
    '42601': 'Only one select (or with, values, table, explain, show) statement is run here; --psql opens a session.',
  };
  return new UserError(`Postgres refuses the statement: ${error.message}${place}`, {
    hint: hints[error.code ?? ''] ?? error.hint ?? 'docs/sql.md describes tables and views.',
    cause: error,
  });
}

function rowsJson(result: QueryResult): string {
  const rows = result.rows.map((row) =>
    Object.fromEntries(result.columns.map((column, i) => [column, row[i] ?? null])),
  );
  return `${JSON.stringify(rows, null, 2)}\n`;
}

/**
 * Rows as a table; one wider than `width` as a block of lines a row. Numbers are rounded to 6 significant digits, which
 * --json does not do.
 */
export function rowsText(result: QueryResult, width: number): string {
  const numeric = result.columns.map((_, i) =>
    result.rows.every((row) => row[i] === null || typeof row[i] === 'number'),
  );
  const columns = result.columns.map((title, i) => ({
    title,
    max: CELL_WIDTH,
    align: numeric[i] === true ? ('right' as const) : ('left' as const),
  }));
  const lines = table(
    columns,
    result.rows.map((row) => row.map(cellText)),
  );
  const fits = lines.every((line) => displayWidth(line) <= width);
  const shown = fits ? lines : blocks(result, width);
  return `${shown.join('\n')}\n(${plural(result.rows.length, 'row')})\n`;
}

function blocks(result: QueryResult, width: number): string[] {
  const widest = Math.max(...result.columns.map(displayWidth));
  return result.rows.flatMap((row, i) => [
    `── ${i + 1} ${'─'.repeat(Math.max(0, Math.min(width, 40) - 4 - String(i + 1).length))}`,
    ...result.columns.map((column, at) =>
      truncate(`${padEnd(column, widest)}  ${cellText(row[at])}`, Math.max(width, widest + 20)).trimEnd(),
    ),
  ]);
}

function cellText(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (value instanceof Date) return value.toISOString().replace('T', ' ').slice(0, 19);
  if (typeof value === 'number') return numberText(value);
  return cleanText(typeof value === 'string' ? value : JSON.stringify(value));
}

function numberText(value: number): string {
  if (!Number.isFinite(value) || Number.isInteger(value)) return String(value);
  return String(Math.abs(value) >= 1e6 ? Math.round(value) : Number(value.toPrecision(6)));
}

function hintText(database: Database, flags: SqlFlags): string {
  const width = Math.max(...NAMED_QUERIES.map((one) => one.name.length));
  const hidden = flags.showPassword === true ? '' : '; --show-password prints the password';
  const where = database.embedded ? 'the embedded Postgres (it runs while a command uses it)' : 'DATABASE_URL';
  const lines = [
    `Postgres: ${where}${hidden}`,
    `  psql '${shownAddress(database.url, flags.showPassword === true)}'`,
    `  assay sql --psql    opens psql with the right password`,
    '',
    'Named queries (docs/sql.md shows their text):',
    ...NAMED_QUERIES.map((one) => `  assay sql ${one.name.padEnd(width)}    ${one.answers}`),
    '',
    'Views: evaluation_summary, regressions, case_stability, cost',
  ];
  return `${lines.join('\n')}\n`;
}

function hintJson(database: Database, flags: SqlFlags): string {
  return `${JSON.stringify({ database: shownAddress(database.url, flags.showPassword === true), queries: NAMED_QUERIES }, null, 2)}\n`;
}

/** Hands the terminal to psql. The password goes by environment: a command line is readable by everyone (`ps`). */
async function openPsql(context: CommandContext, databaseUrl: string, text: string | null): Promise<void> {
  const url = new URL(databaseUrl);
  const password = decodeURIComponent(url.password);
  url.password = '';
  const env = Object.fromEntries(Object.entries(context.env).filter(([, value]) => value !== undefined));
  const child = spawn('psql', [url.href, ...(text === null ? [] : ['-c', text])], {
    stdio: 'inherit',
    env: { ...env, PGPASSWORD: password } as NodeJS.ProcessEnv,
  });
  // Ctrl-C is psql's, which cancels a statement with it.
  const ignored = stopSignal({ signals: ['SIGINT'], leave: () => undefined });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', (error) => reject(psqlMissing(error)));
    child.on('exit', (exit) => resolve(exit));
  }).finally(() => ignored.dispose());
  if (code !== 0) throw new ExitSignal(EXIT.usage);
}

function psqlMissing(error: Error): Error {
  if (!('code' in error) || error.code !== 'ENOENT') return error;
  return new UserError('psql is not installed here.', {
    hint: 'Install the PostgreSQL client, or let `assay sql "select …"` run the statement.',
    cause: error,
  });
}
