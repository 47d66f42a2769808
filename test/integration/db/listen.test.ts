import { setTimeout as wait } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connect, type Db } from '../../../src/db/connect.ts';
import { notifyCancel } from '../../../src/db/evaluations.ts';
import { listen } from '../../../src/db/listen.ts';
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

/** Server processes of listeners on this database. */
async function listeners(): Promise<number[]> {
  const { rows } = await sql<{ pid: number }>`
    select pid from pg_stat_activity where datname = current_database() and application_name = 'assay listener'`.execute(
    db,
  );
  return rows.map(({ pid }) => pid);
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; !(await holds()); tries += 1) {
    if (tries === 500) throw new Error('waited 5 s in vain');
    await wait(10);
  }
}

test('a listener hears notices, also after its connection was cut', async () => {
  const heard: string[] = [];
  const listener = listen(database.url, { assay_cancel: (id) => void heard.push(id) });
  const told = (id: string) => async (): Promise<boolean> => {
    await notifyCancel(db, id);
    return heard.includes(id);
  };
  await until(told('before'));
  const [pid] = await listeners();
  expect(pid).toBeDefined();
  await sql`select pg_terminate_backend(${pid})`.execute(db);
  await until(told('after'));
  await listener.close();
  await until(async () => (await listeners()).length === 0);
});

test('one that is closed while it connects leaves no connection', async () => {
  const listener = listen(database.url, { assay_cancel: () => undefined });
  await until(async () => (await listeners()).length > 0);
  // The server has it; this process, which waits for the answer to its first statement, may not know yet.
  await listener.close();
  await until(async () => (await listeners()).length === 0);
  const early = listen(database.url, { assay_cancel: () => undefined });
  await early.close();
  await until(async () => (await listeners()).length === 0);
});
