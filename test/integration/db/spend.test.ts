import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connect, type Db } from '../../../src/db/connect.ts';
import { loadSpend } from '../../../src/db/spend.ts';
import { createTestDatabase, type TestDatabase } from '../../fixtures/database.ts';
import { casesOf, storeEvaluation } from './support.ts';

let database: TestDatabase;
let db: Db;
beforeAll(async () => {
  database = await createTestDatabase();
  db = connect(database.url, { alwaysByIndex: true });
  for (const id of ['a', 'b', 'c', 'd']) {
    await storeEvaluation(db, id, casesOf('x'));
    await sql`insert into trial (evaluation_id, case_id, trial_index, fence, worker) values (${id}, 'x', 1, 1, 'w')`.execute(
      db,
    );
  }
});
afterAll(async () => {
  await db.destroy();
  await database.drop();
});

let sequence = 0;
/** A call recorded this many seconds ago; a negative number: after a clock that went back meanwhile. */
async function call(id: string, secondsAgo: number, costUsd: number | null): Promise<void> {
  sequence += 1;
  await sql`
    insert into model_call (evaluation_id, case_id, trial_index, role, path, dimension, vote, sequence, request_hash, response, cost_usd, latency_ms, called_at)
    values (${id}, 'x', 1, 'agent', '', '', 0, ${sequence}, 'r', '{}', ${costUsd}, 1, now() - make_interval(secs => ${secondsAgo}))`.execute(
    db,
  );
}

test('no call: nothing spent; a call without a price counts as 0', async () => {
  expect(await loadSpend(db, 'a')).toMatchObject({ total: 0, settled: 0 });
  await call('a', 1, null);
  expect((await loadSpend(db, 'a')).total).toBe(0);
});

test('what a look finds adds up with what an earlier one had settled, whatever was recorded late', async () => {
  await call('b', 600, 0.1);
  await call('b', 30, 0.2);
  const first = await loadSpend(db, 'b');
  expect(first.total).toBeCloseTo(0.3, 12);
  expect(first.settled).toBeCloseTo(0.1, 12);
  // Its transaction began before the first look, and its commit was seen only after it.
  await call('b', 60, 0.4);
  await call('b', 0, 0.8);
  const second = await loadSpend(db, 'b', first);
  expect(second.total).toBeCloseTo(1.5, 12);
  expect((await loadSpend(db, 'b', second)).total).toBeCloseTo(1.5, 12);
  expect((await loadSpend(db, 'b')).total).toBeCloseTo(1.5, 12);
});

test('settled calls are not read again', async () => {
  await call('c', 600, 1);
  const known = await loadSpend(db, 'c');
  await sql`delete from model_call where evaluation_id = 'c'`.execute(db);
  expect((await loadSpend(db, 'c', known)).total).toBe(1);
});

test('a clock of Postgres that went back: everything is read', async () => {
  await call('d', 600, 1);
  const known = { total: 1, settled: 1, settledUntil: new Date(Date.now() + 3_600_000) };
  await call('d', 0, 2);
  const next = await loadSpend(db, 'd', known);
  expect(next.total).toBe(3);
  expect(next.settled).toBe(1);
});

test('a look at many calls reads the index by time alone', async () => {
  await sql`
    insert into model_call (evaluation_id, case_id, trial_index, role, path, dimension, vote, sequence, request_hash, response, cost_usd, latency_ms, called_at)
    select 'd', 'x', 1, 'judge', '', '', 0, n, 'r', '{}', 0.001, 1, now() - make_interval(secs => 600 + n)
    from generate_series(1, 20000) n`.execute(db);
  await sql`vacuum analyze model_call`.execute(db);
  const plan = await sql<{ 'QUERY PLAN': string }>`
    explain select sum(cost_usd) from model_call where evaluation_id = 'd' and cost_usd is not null and called_at >= now() - interval '2 minutes'`.execute(
    db,
  );
  const text = plan.rows.map((row) => row['QUERY PLAN']).join('\n');
  expect(text).toContain('Index Only Scan using model_call_by_time');
});
