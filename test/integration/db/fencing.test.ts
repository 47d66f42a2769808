import { setTimeout as wait } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { claimTrials } from '../../../src/db/claim-trials.ts';
import { connect, type Db } from '../../../src/db/connect.ts';
import { journalCalls } from '../../../src/db/journal-calls.ts';
import { replaceSnapshot } from '../../../src/db/restart-evaluation.ts';
import { newEvaluation } from '../../../src/db/new-evaluation.ts';
import { loadSnapshot } from '../../../src/db/evaluation-cases.ts';
import { findEvaluation } from '../../../src/db/evaluations.ts';
import { createTestDatabase, type TestDatabase } from '../../fixtures/database.ts';
import { callOf, casesOf, keyOf, storeEvaluation } from './support.ts';

let database: TestDatabase;
let db: Db;
beforeAll(async () => {
  database = await createTestDatabase();
  db = connect(database.url);
  await storeEvaluation(db, 'e', casesOf(...Array.from({ length: 40 }, (_, index) => `c${index}`)));
});
afterAll(async () => {
  await db.destroy();
  await database.drop();
});

const fenceOf = async (worker: string, caseId: string): Promise<number> =>
  (await claimTrials(db, worker, [keyOf('e', caseId)]))[0]?.fence ?? -1;
const callsOf = async (caseId: string): Promise<number> =>
  (await sql<{ n: number }>`select count(*) as n from model_call where case_id = ${caseId}`.execute(db)).rows[0]?.n ??
  -1;

/** Waits until a statement of this database waits for a lock. */
async function untilBlocked(): Promise<void> {
  for (let tries = 0; tries < 500; tries += 1) {
    const { rows } = await sql<{ n: number }>`
      select count(*) as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(
      db,
    );
    if ((rows[0]?.n ?? 0) > 0) return;
    await wait(10);
  }
  throw new Error('nothing waited for a lock');
}

test('a call of a zombie that meets a new claim under way waits for it, and is refused', async () => {
  const fence = await fenceOf('zombie', 'c0');
  let journaling: Promise<boolean[]> = Promise.resolve([]);
  await db.transaction().execute(async (tx) => {
    await claimTrials(tx, 'heir', [keyOf('e', 'c0')]);
    journaling = journalCalls(db, [callOf(keyOf('e', 'c0'), fence)]);
    await untilBlocked();
  });
  expect(await journaling).toEqual([false]);
  expect(await callsOf('c0')).toBe(0);
});

test('a claim waits for a call that is being recorded, so that the journal it reads next holds it', async () => {
  const fence = await fenceOf('first', 'c1');
  let claiming: Promise<unknown> = Promise.resolve();
  let claimed = false;
  await db.transaction().execute(async (tx) => {
    expect(await journalCalls(tx, [callOf(keyOf('e', 'c1'), fence)])).toEqual([true]);
    claiming = claimTrials(db, 'heir', [keyOf('e', 'c1')]).then(() => (claimed = true));
    await untilBlocked();
    expect(claimed).toBe(false);
  });
  await claiming;
  expect(await callsOf('c1')).toBe(1);
});

test('R15: claims and recordings of the same trials in any order do not deadlock', async () => {
  const ids = Array.from({ length: 30 }, (_, index) => `c${index + 10}`);
  const forward = ids.map((id) => keyOf('e', id));
  const backward = [...forward].reverse();
  const claims = await claimTrials(db, 'w', forward);
  const entries = forward.map((key, index) => callOf(key, claims[index]?.fence ?? -1));
  const rounds = Array.from({ length: 20 }, (_, round) => [
    journalCalls(db, round % 2 === 0 ? entries : [...entries].reverse()),
    claimTrials(db, `w${round}`, round % 2 === 0 ? backward : forward),
  ]);
  await Promise.all(rounds.flat());
});

test('a snapshot that cannot be replaced stays whole, its trials with it', async () => {
  await storeEvaluation(db, 'snapshot', casesOf('a', 'b'));
  await claimTrials(db, 'w', [keyOf('snapshot', 'a')]);
  const row = await findEvaluation(db, 'snapshot');
  if (row === null) throw new Error('the evaluation is missing');
  const cases = casesOf('a', 'new', 'new');
  const wanted = newEvaluation(
    {
      suite: { ...row.definition, labels: { changed: 'yes' } },
      suitePath: 's.yaml',
      suiteRoot: '/elsewhere',
      cases,
      caseHashes: new Map(cases.map((one) => [one.id, 'h'])),
      hashes: { suite: 's2', data: 'd2', agent: 'a2' },
    },
    { env: {}, now: new Date(), id: 'snapshot' },
  );
  // Two cases of one id: the last statement fails.
  await expect(replaceSnapshot(db, wanted, { everything: true })).rejects.toThrow(/evaluation_case/);
  expect((await loadSnapshot(db, 'snapshot')).map((one) => one.case_id)).toEqual(['a', 'b']);
  expect(await findEvaluation(db, 'snapshot')).toMatchObject({ suite_root: '/s', labels: {}, agent_hash: 'a' });
  const trials = await sql<{ n: number }>`select count(*) as n from trial where evaluation_id = 'snapshot'`.execute(db);
  expect(trials.rows).toEqual([{ n: 1 }]);
});
