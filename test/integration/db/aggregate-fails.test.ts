import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connect, type Db } from '../../../src/db/connect.ts';
import { aggregateEvaluation } from '../../../src/results/aggregate-evaluation.ts';
import { createTestDatabase, type TestDatabase } from '../../fixtures/database.ts';
import { casesOf, storeEvaluation } from './support.ts';

let database: TestDatabase;
let db: Db;
beforeAll(async () => {
  database = await createTestDatabase();
  db = connect(database.url, { poolSize: 6 });
});
afterAll(async () => {
  await db.destroy();
  await database.drop();
});

test('an aggregation whose page cannot be written fails once no other is being written', async () => {
  const ids = Array.from({ length: 1_600 }, (_, index) => `case-${String(index).padStart(4, '0')}`);
  await storeEvaluation(db, 'one', casesOf(...ids));
  // The first page fails while the second takes long.
  await sql`
    create function refuse() returns trigger language plpgsql as $$ begin
      if new.case_id = 'case-0499' then raise exception 'no room'; end if;
      if new.case_id = 'case-0500' then perform pg_sleep(1.5); end if;
      return new;
    end $$`.execute(db);
  await sql`create trigger refuse before insert on case_result for each row execute function refuse()`.execute(db);
  await expect(aggregateEvaluation(db, 'one')).rejects.toThrow('no room');
  const writing = await sql`
    select 1 from pg_stat_activity
    where datname = current_database() and state = 'active' and query ilike '%insert into case_result%' and pid <> pg_backend_pid()`.execute(
    db,
  );
  expect(writing.rows).toEqual([]);
  await sql`drop trigger refuse on case_result`.execute(db);
  await aggregateEvaluation(db, 'one');
  const rows = await sql<{ n: number }>`select count(*) as n from case_result`.execute(db);
  expect(rows.rows).toEqual([{ n: 1_600 }]);
});
