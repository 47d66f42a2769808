import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connect } from '../../../src/db/connect.ts';
import { createTrialWriter } from '../../../src/db/trial-writer.ts';
import { createTestDatabase, type TestDatabase } from '../../fixtures/database.ts';
import { callOf, casesOf, endOf, keyOf, storeEvaluation } from './support.ts';

const TRIALS = 1_500;
const AT_ONCE = 50;
let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

/** Rows of `trial` that Postgres has looked at by an index or a scan. */
async function rowsRead(): Promise<number> {
  const db = connect(database.url, { poolSize: 1 });
  const result = await sql<{ n: number }>`
    select seq_tup_read + idx_tup_fetch as n from pg_stat_user_tables where relname = 'trial'`.execute(db);
  await db.destroy();
  return result.rows[0]?.n ?? Number.NaN;
}

test('what a trial costs does not grow with the trials there are, on tables Postgres knows nothing about yet', async () => {
  const ids = Array.from({ length: TRIALS }, (_, index) => `c${String(index).padStart(5, '0')}`);
  const db = connect(database.url, { alwaysByIndex: true });
  await storeEvaluation(db, 'e', casesOf(...ids));
  const writer = createTrialWriter(db, 'worker');
  const run = async (id: string): Promise<void> => {
    const key = keyOf('e', id);
    const claim = await writer.claim(key);
    if (claim === null) throw new Error(`${id} has ended`);
    await writer.journal(callOf(key, claim.fence));
    await writer.finish(endOf(key, claim.fence));
  };
  for (let from = 0; from < TRIALS; from += AT_ONCE) await Promise.all(ids.slice(from, from + AT_ONCE).map(run));
  // A connection tells its statistics when it ends, at the latest.
  await db.destroy();
  // With one index too many the checks of foreign keys read every trial of the evaluation: 3,000 rows a trial here.
  expect((await rowsRead()) / TRIALS).toBeLessThan(300);
}, 120_000);
