import { afterAll, beforeAll, expect, test } from 'vitest';
import { connect, type Db } from '../../../src/db/connect.ts';
import {
  deleteEndedEvaluation,
  findEvaluation,
  listEvaluations,
  markEnded,
  reopenEvaluation,
} from '../../../src/db/evaluations.ts';
import { joinEvaluation } from '../../../src/db/join-evaluation.ts';
import { createTestDatabase, type TestDatabase } from '../../fixtures/database.ts';
import { casesOf, newEvaluationOf, storeEvaluation } from './support.ts';

let database: TestDatabase;
let db: Db;
beforeAll(async () => {
  database = await createTestDatabase();
  db = connect(database.url, { poolSize: 8 });
});
afterAll(async () => {
  await db.destroy();
  await database.drop();
});

const END = { status: 'completed', stop: null, exitCode: 0, verdict: 'Passed', revision: 1 } as const;

test('of eight commands that run the same suite at once, one stores it and the others join', async () => {
  const ids = Array.from({ length: 8 }, (_, n) => `same-${n}`);
  const found = await Promise.all(ids.map((id) => joinEvaluation(db, newEvaluationOf(id, casesOf('a', 'b')))));
  const stored = await listEvaluations(db);
  expect(stored).toHaveLength(1);
  const [only] = stored;
  expect(found.filter((row) => row === null)).toHaveLength(1);
  expect(new Set(found.flatMap((row) => (row === null ? [] : [row.id])))).toEqual(new Set([only?.id]));
});

test('another number of trials is another evaluation, and an ended one is not joined', async () => {
  const one = newEvaluationOf('apart-1', casesOf('a'), { name: 'apart' });
  const two = newEvaluationOf('apart-2', casesOf('a'), { name: 'apart', trials: 2 });
  expect(await Promise.all([joinEvaluation(db, one), joinEvaluation(db, two)])).toEqual([null, null]);
  await markEnded(db, 'apart-1', { ...END, revision: (await findEvaluation(db, 'apart-1'))?.revision ?? 0 });
  expect(await joinEvaluation(db, newEvaluationOf('apart-3', casesOf('a'), { name: 'apart' }))).toBeNull();
});

test('an evaluation that was resumed while the question of `delete` was open is not removed', async () => {
  await storeEvaluation(db, 'kept', casesOf('a'));
  await markEnded(db, 'kept', { ...END, revision: (await findEvaluation(db, 'kept'))?.revision ?? 0 });
  await reopenEvaluation(db, 'kept');
  expect(await deleteEndedEvaluation(db, 'kept')).toBe(false);
  await markEnded(db, 'kept', { ...END, revision: (await findEvaluation(db, 'kept'))?.revision ?? 0 });
  expect(await deleteEndedEvaluation(db, 'kept')).toBe(true);
  expect(await findEvaluation(db, 'kept')).toBeNull();
});
