import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connect, type Db } from '../../../src/db/connect.ts';
import { markEnded, requireEvaluation } from '../../../src/db/evaluations.ts';
import { createTrialWriter } from '../../../src/db/trial-writer.ts';
import { createTestDatabase, type TestDatabase } from '../../fixtures/database.ts';
import { casesOf, endOf, keyOf, storeEvaluation } from './support.ts';

let database: TestDatabase;
let db: Db;
beforeAll(async () => {
  database = await createTestDatabase();
  db = connect(database.url);
  await storeEvaluation(db, 'e', casesOf('a'));
});
afterAll(async () => {
  await db.destroy();
  await database.drop();
});

test('nothing ends before it has started, though the clock was set back an hour in between', async () => {
  const writer = createTrialWriter(db, 'worker');
  const claim = await writer.claim(keyOf('e', 'a'));
  await sql`update evaluation set started_at = now() + interval '1 hour'`.execute(db);
  await sql`update trial set started_at = now() + interval '1 hour'`.execute(db);

  await writer.finish(endOf(keyOf('e', 'a'), claim?.fence ?? -1));
  const { revision } = await requireEvaluation(db, 'e');
  await markEnded(db, 'e', { status: 'completed', stop: null, exitCode: 0, verdict: 'Passed', revision });

  const times = await sql<{ evaluation: number; trial: number }>`
    select extract(epoch from e.finished_at - e.started_at)::float8 as evaluation,
      extract(epoch from t.finished_at - t.started_at)::float8 as trial
    from evaluation e join trial t on t.evaluation_id = e.id`.execute(db);
  expect(times.rows).toEqual([{ evaluation: 0, trial: 0 }]);
});
