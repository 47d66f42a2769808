import { readFileSync } from 'node:fs';
import path from 'node:path';
import { type Kysely, sql } from 'kysely';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { main } from '../../../src/client.ts';
import { UserError } from '../../../src/core/errors.ts';
import { connect, type Db } from '../../../src/db/connect.ts';
import { migrate, migrationStatus, requireCurrentSchema } from '../../../src/db/migrate.ts';
import { prepareSchema } from '../../../src/db/prepare-schema.ts';
import { migrationHashes, storedHashes } from '../../../src/db/migration-hashes.ts';
import { NAMED_QUERIES } from '../../../src/db/named-queries.ts';
import { readOnlyQuery } from '../../../src/db/read-only-query.ts';
import { createTestDatabase, type TestDatabase } from '../../fixtures/database.ts';

let database: TestDatabase;
let db: Db;
beforeAll(async () => {
  database = await createTestDatabase();
  db = connect(database.url);
});
afterAll(async () => {
  await db.destroy();
  await database.drop();
});

interface Column {
  type: 'text' | 'number' | 'boolean' | 'time' | 'list' | 'json';
  nullable: boolean;
}

/** What schema.ts says, read from its text: types are gone when it runs. */
function declaredColumns(): Record<string, Record<string, Column>> {
  const source = readFileSync(path.resolve(import.meta.dirname, '../../../src/db/schema.ts'), 'utf8');
  const interfaces = new Map<string, { base: string | null; body: string }>();
  for (const [, name = '', base, body = ''] of source.matchAll(/interface (\w+)(?: extends (\w+))? \{\n([^}]*)\}/g)) {
    interfaces.set(name, { base: base ?? null, body });
  }
  const columnsOf = (name: string): Record<string, Column> => {
    const found = interfaces.get(name);
    if (found === undefined) throw new Error(`schema.ts has no interface ${name}`);
    const own = [...found.body.matchAll(/^ {2}(\w+): (.+);$/gm)].map(([, column = '', type = '']) => [
      column,
      readType(type),
    ]);
    return {
      ...(found.base === null ? {} : columnsOf(found.base)),
      ...(Object.fromEntries(own) as Record<string, Column>),
    };
  };
  const tables = [...(interfaces.get('Database')?.body ?? '').matchAll(/^ {2}(\w+): (\w+);$/gm)];
  return Object.fromEntries(tables.map(([, table = '', name = '']) => [table, columnsOf(name)]));
}

function readType(declared: string): Column {
  const type = declared.replace(/^Generated<(.*)>$/, '$1');
  const nullable = /\bnull\b/.test(type);
  const bare = type.replace(/ \| null$/, '');
  if (/^(Stored|ColumnType)</.test(bare)) return { type: 'json', nullable };
  if (bare === 'string[]') return { type: 'list', nullable };
  if (bare === 'Date') return { type: 'time', nullable };
  if (bare === 'number' || bare === 'boolean') return { type: bare, nullable };
  return { type: 'text', nullable };
}

const KINDS: Record<string, Column['type']> = {
  text: 'text',
  integer: 'number',
  bigint: 'number',
  numeric: 'number',
  'double precision': 'number',
  boolean: 'boolean',
  'timestamp with time zone': 'time',
  ARRAY: 'list',
  jsonb: 'json',
};

test('schema.ts says what the live schema has: every table, column, type and nullability', async () => {
  const rows = await sql<{ table_name: string; column_name: string; data_type: string; is_nullable: string }>`
    select c.table_name, c.column_name, c.data_type, c.is_nullable from information_schema.columns c
    join information_schema.tables t using (table_schema, table_name)
    where c.table_schema = 'public' and t.table_type = 'BASE TABLE' and c.table_name not like 'kysely_%'`.execute(db);
  const live: Record<string, Record<string, Column>> = {};
  for (const row of rows.rows) {
    (live[row.table_name] ??= {})[row.column_name] = {
      type: KINDS[row.data_type] ?? (row.data_type as 'text'),
      nullable: row.is_nullable === 'YES',
    };
  }
  const declared = declaredColumns();
  // JSON columns may be null inside TypeScript's Json type too: what the type cannot say is taken from the live schema.
  for (const [table, columns] of Object.entries(declared)) {
    for (const [name, column] of Object.entries(columns)) {
      if (column.type === 'json' && live[table]?.[name]?.type === 'json')
        column.nullable = live[table]?.[name]?.nullable ?? false;
    }
  }
  expect(declared).toEqual(live);
  expect(Object.keys(live).length).toBeGreaterThanOrEqual(14);
});

describe('migrations', () => {
  async function emptyDatabase(name: string): Promise<string> {
    const client = new pg.Client({ connectionString: inject('databaseUrl') });
    await client.connect();
    await client.query(`create database ${name}`);
    await client.end();
    const url = new URL(inject('databaseUrl'));
    url.pathname = `/${name}`;
    return url.href;
  }
  const unique = (): string => `empty_${process.pid}_${Math.random().toString(36).slice(2, 8)}`;

  test('two at once: one migrates, the other waits; a third finds nothing to do', async () => {
    const url = await emptyDatabase(unique());
    expect((await migrationStatus(url)).applied).toEqual([]);
    await expect(requireCurrentSchema(url)).rejects.toThrow(/lacks \d+ migration/);
    const results = await Promise.all([migrate(url), migrate(url)]);
    const all = results.flatMap((result) => result.applied);
    expect(all.length).toBeGreaterThanOrEqual(2);
    expect(new Set(all).size).toBe(all.length);
    expect(await migrate(url)).toEqual({ applied: [] });
    expect(await migrationStatus(url)).toMatchObject({ pending: [], unknown: [] });
    await requireCurrentSchema(url);
  });

  test('a newer schema is refused, with what to do', async () => {
    const url = await emptyDatabase(unique());
    await migrate(url);
    const own = connect(url, { poolSize: 1 });
    await sql`insert into kysely_migration (name, timestamp) values ('9999-of-tomorrow', 'now')`.execute(own);
    await own.destroy();
    for (const attempt of [migrate, requireCurrentSchema]) {
      const error: unknown = await attempt(url).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(UserError);
      expect(error).toMatchObject({ exitCode: 4 });
      expect((error as UserError).message).toMatch(/newer assay .*9999-of-tomorrow/);
      expect((error as UserError).hint).toMatch(/update assay/);
    }
  });
});

describe('a database made by other statements under the names of our migrations', () => {
  async function alter(url: string, ...statements: string[]): Promise<void> {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    for (const statement of statements) await client.query(statement);
    await client.end();
  }
  /** As after a change of a migration that was applied already. */
  const OTHER = `comment on table kysely_migration is '{"0001-evaluations":"of another build"}'`;

  test('is refused before anything runs, with what to do', async () => {
    const own = await createTestDatabase();
    expect(await migrationStatus(own.url)).toMatchObject({ changed: [] });
    await alter(own.url, OTHER);
    for (const attempt of [
      migrate,
      requireCurrentSchema,
      (url: string) => prepareSchema(url, { embedded: true }),
      (url: string) => prepareSchema(url, { embedded: false }),
    ]) {
      const error: unknown = await attempt(own.url).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(UserError);
      expect(error).toMatchObject({ exitCode: 4, message: expect.stringMatching(/another build .*0001-evaluations/) });
      expect((error as UserError).hint).toMatch(/DATABASE_URL.*remove the folder \.assay/);
    }
    await own.drop();
  });

  test('one that does not say what it was made with is used; its missing column is no defect of ours', async () => {
    const own = await createTestDatabase();
    await alter(own.url, 'comment on table kysely_migration is null', 'alter table baseline drop column label cascade');
    await requireCurrentSchema(own.url);
    let err = '';
    const code = await main(['node', 'assay', 'baseline', 'list'], {
      env: { DATABASE_URL: own.url },
      stdout: () => undefined,
      stderr: (text) => (err += text),
      cwd: import.meta.dirname,
      isTty: false,
    });
    expect({ code, err }).toEqual({ code: 4, err: expect.stringMatching(/another build[^]*→ .*DATABASE_URL/) });
    expect(err).not.toMatch(/defect|unexpected|\n\s+at /);
    await own.drop();
  });

  test('the hashes are those of the statements: the folder can be compiled, the lines broken otherwise', async () => {
    const up = (text: string) => ({ up: async (db: Kysely<unknown>) => void (await sql.raw(text).execute(db)) });
    const hashes = await migrationHashes({
      a: up('create table t (a int)'),
      b: up('create table t\n  (a int) '),
      c: up('create table t (b int)'),
    });
    expect(hashes.get('a')).toBe(hashes.get('b'));
    expect(hashes.get('a')).not.toBe(hashes.get('c'));
    const stored = await storedHashes(db);
    expect([...stored.keys()]).toEqual((await migrationStatus(database.url)).applied);
    expect(new Set(stored.values()).size).toBe(stored.size);
  });
});

describe('views and queries over 100,000 scores', () => {
  beforeAll(async () => {
    await sql`
      insert into evaluation (id, suite, kind, status, suite_hash, data_hash, agent_hash, agent_version, definition, suite_path, suite_root, offline,
        trials, concurrency, cases, planned_trials, started_at, created_at)
      select 'e' || n, 'suite-' || n % 10, 'smoke', 'completed', 's', 'd', 'a', 'v', '{}', 'p', 'r', false, 1, 10, 500, 500,
        now() - n * interval '1 day', now() - n * interval '1 day' from generate_series(1, 100) n`.execute(db);
    await sql`
      insert into trial (evaluation_id, case_id, trial_index, status, fence, worker, running, latency_ms)
      select 'e' || n, 'c' || k, 1, 'passed', 0, 'w', false, k from generate_series(1, 100) n, generate_series(1, 500) k`.execute(
      db,
    );
    await sql`
      insert into score (evaluation_id, case_id, trial_index, scorer, value, passed, deciding, violation, reason)
      select 'e' || n, 'c' || k, 1, s, case when k % 5 = 0 then 0 else 1 end, k % 5 <> 0, true, false, 'r'
      from generate_series(1, 100) n, generate_series(1, 500) k, unnest(array['answer_contains', 'tool_match']) s`.execute(
      db,
    );
    await sql`
      insert into model_call (evaluation_id, case_id, trial_index, role, path, dimension, vote, sequence, request_hash, response, model,
        input_tokens, output_tokens, total_tokens, cost_usd, latency_ms, called_at)
      select 'e' || n, 'c' || k, 1, 'agent', '', '', 0, 0, 'h', '{}', 'm', 3, 2, case when k = 1 then null else 5 end, 0.25, 1, now()
      from generate_series(1, 3) n, generate_series(1, 500) k`.execute(db);
    await sql`
      insert into evaluation_metric (evaluation_id, metric, value, cases, cases_applicable, trials, trials_applicable)
      select 'e' || n, m, 0.5 + n / 1000.0, 500, 500, 500, 500
      from generate_series(1, 100) n, unnest(array['completion_rate', 'case_pass_rate', 'tool_score', 'cost_usd', 'safety_violations']) m`.execute(
      db,
    );
    await sql`
      insert into metric_delta (evaluation_id, baseline_evaluation_id, metric, delta, kind, pairs, verdict)
      select 'e' || n, 'e1', m, -0.2, 'difference', 500, case when n = 7 and m = 'tool_score' then 'regressed' when n = 8 and m = 'tool_score' then 'alert' else 'same' end
      from generate_series(1, 100) n, unnest(array['completion_rate', 'tool_score']) m`.execute(db);
    await sql`
      insert into case_result (evaluation_id, case_id, content_hash, outcome, passed_trials, failed_trials, unscored_trials, errored_trials, missing_trials, body)
      select 'e' || n, 'c' || k, 'h', case when k % 5 = 0 then 'flaky' else 'passed' end, 1, 0, 0, 0, 0, '{}'
      from generate_series(1, 100) n, generate_series(1, 500) k`.execute(db);
    await sql`analyze`.execute(db);
    const counted = await sql<{ n: number }>`select count(*) as n from score`.execute(db);
    expect(counted.rows[0]?.n).toBe(100_000);
  }, 120_000);

  test('evaluation_summary: one row an evaluation, metrics beside it', async () => {
    const rows =
      await sql`select suite, completion_rate, case_pass_rate, cost_usd, answer_quality from evaluation_summary where evaluation_id = 'e7'`.execute(
        db,
      );
    expect(rows.rows).toEqual([
      { suite: 'suite-7', completion_rate: 0.507, case_pass_rate: 0.507, cost_usd: 0.507, answer_quality: null },
    ]);
    expect((await sql`select 1 from evaluation_summary`.execute(db)).rows).toHaveLength(100);
  });

  test('regressions: what dropped, nothing else', async () => {
    const rows =
      await sql`select evaluation_id, suite, metric, verdict from regressions order by evaluation_id`.execute(db);
    expect(rows.rows).toEqual([
      { evaluation_id: 'e7', suite: 'suite-7', metric: 'tool_score', verdict: 'regressed' },
      { evaluation_id: 'e8', suite: 'suite-8', metric: 'tool_score', verdict: 'alert' },
    ]);
  });

  test('case_stability: every case, with its suite', async () => {
    const rows = await sql<{
      n: number;
    }>`select count(*) as n from case_stability where evaluation_id = 'e3' and outcome = 'flaky'`.execute(db);
    expect(rows.rows).toEqual([{ n: 100 }]);
  });

  test('cost: sums by evaluation, role, model and day; unknown is counted, not taken for 0', async () => {
    const rows =
      await sql`select role, model, calls, total_tokens, cost_usd, calls_without_usage, calls_without_price from cost where evaluation_id = 'e2'`.execute(
        db,
      );
    expect(rows.rows).toEqual([
      {
        role: 'agent',
        model: 'm',
        calls: 500,
        total_tokens: 2_495,
        cost_usd: 125,
        calls_without_usage: 1,
        calls_without_price: 0,
      },
    ]);
  });

  /** The plan where reading a whole table is dear, as it is after years: here some tables have a few pages only. */
  async function planOf(text: string): Promise<string> {
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    await client.query('set enable_seqscan = off');
    const result = await client.query<{ 'QUERY PLAN': string }>(`explain ${text}`);
    await client.end();
    return result.rows.map((row) => row['QUERY PLAN']).join('\n');
  }

  test.each([
    ['the summary of one evaluation', `select * from evaluation_summary where evaluation_id = 'e7'`],
    ['its regressions', `select * from regressions where evaluation_id = 'e7'`],
    ['all regressions', `select * from regressions order by started_at desc limit 50`],
    ['its unstable cases', `select * from case_stability where evaluation_id = 'e7' and outcome = 'flaky'`],
    ['its cost', `select * from cost where evaluation_id = 'e2'`],
    [
      'its slowest trials',
      `select case_id from trial where evaluation_id = 'e7' and latency_ms is not null order by latency_ms desc limit 20`,
    ],
    [
      'its failed scores',
      `select scorer, count(*) from score where evaluation_id = 'e7' and not passed group by scorer`,
    ],
    [
      'the newest evaluation of a suite',
      `select * from evaluation where suite = 'suite-3' order by created_at desc limit 1`,
    ],
    ['scores of one trial', `select * from score where evaluation_id = 'e7' and case_id = 'c9' and trial_index = 1`],
  ])('%s: by index, never a scan of trials, scores, calls, cases or deltas', async (_, text) => {
    const plan = await planOf(text);
    expect(plan).toMatch(/Index/);
    expect(plan).not.toMatch(/Seq Scan on (score|trial|model_call|case_result|metric_delta|evaluation_metric)\b/);
    // An index read from end to end would be no better than the table.
    expect(plan).toMatch(/Index Cond/);
  });

  test.each(NAMED_QUERIES.map((query) => [query.name, query.sql]))('assay sql %s runs read-only', async (_, text) => {
    const result = await readOnlyQuery(database.url, text, { limit: 10 });
    expect(result.columns.length).toBeGreaterThan(1);
    expect(result.rows.length).toBeLessThanOrEqual(10);
  });

  test('a read-only query cannot write', async () => {
    await expect(readOnlyQuery(database.url, 'delete from score', { limit: 1 })).rejects.toThrow();
    await expect(readOnlyQuery(database.url, 'select 1; delete from score', { limit: 1 })).rejects.toThrow();
    const counted = await sql<{ n: number }>`select count(*) as n from score`.execute(db);
    expect(counted.rows[0]?.n).toBe(100_000);
  });
});
