import { afterAll, beforeAll, expect, test } from 'vitest';
import { connect, type Db } from '../../../src/db/connect.ts';
import type { TrialEnd } from '../../../src/db/trial-rows.ts';
import { createTrialWriter } from '../../../src/db/trial-writer.ts';
import { createVerdictReader, keepVerdict } from '../../../src/db/verdict-cache.ts';
import { createTestDatabase, type TestDatabase } from '../../fixtures/database.ts';
import { casesOf, endOf, keyOf, storeEvaluation } from './support.ts';

let database: TestDatabase;
let db: Db;
beforeAll(async () => {
  database = await createTestDatabase();
  db = connect(database.url, { poolSize: 4 });
  await storeEvaluation(db, 'e', casesOf(...Array.from({ length: 80 }, (_, i) => `c${i}`)));
});
afterAll(async () => {
  await db.destroy();
  await database.drop();
});

const verdictOf = (dimension: string, cache_key: string | null, raw_reply = '{}'): TrialEnd['verdicts'][number] => ({
  dimension,
  vote: 0,
  round: 0,
  prompt_hash: 'p',
  model: 'm',
  params: { temperature: 0 },
  raw_reply,
  parsed: {},
  value: 1,
  passed: true,
  unscored_cause: null,
  reason: 'r',
  cached_from: null,
  cache_key,
});

test('a verdict is kept with the end of its trial, read back by key; the first one stays', async () => {
  const writer = createTrialWriter(db, 'one');
  const read = createVerdictReader(db);
  const end = async (id: string, text: string): Promise<void> => {
    const key = keyOf('e', id);
    const claim = await writer.claim(key);
    await writer.finish(
      endOf(key, claim?.fence ?? -1, { verdicts: [verdictOf('a', 'k1', text), verdictOf('b', null)] }),
    );
  };
  // A NUL and a lone surrogate, which Postgres does not take as they are.
  await end('c0', 'first \u0000 \ud800');
  await end('c1', 'second');
  expect(await read(['k1', 'k2'])).toEqual(
    new Map([
      [
        'k1',
        { key: 'k1', raw_reply: 'first \u0000 \ud800', model: 'm', params: { temperature: 0 }, evaluation_id: 'e' },
      ],
    ]),
  );
  await keepVerdict(db, 'e', {
    key: 'k2',
    dimension: 'd',
    prompt_hash: 'p',
    model: null,
    params: {},
    raw_reply: 'x \u0000',
  });
  expect((await read(['k2'])).get('k2')).toMatchObject({ raw_reply: 'x \u0000', model: null });
  const [one, two] = await Promise.all([read(['k1']), read(['k2', 'absent'])]);
  expect([[...one.keys()], [...two.keys()]]).toEqual([['k1'], ['k2']]);
});

test('writers that keep the same verdicts in opposite order do not deadlock', async () => {
  const keys = Array.from({ length: 40 }, (_, i) => `same-${String(i).padStart(2, '0')}`);
  const ends = Array.from({ length: 6 }, (_, round) => round).map(async (round) => {
    const writer = createTrialWriter(db, `writer ${round}`);
    const key = keyOf('e', `c${10 + round}`);
    const claim = await writer.claim(key);
    const ordered = round % 2 === 0 ? keys : [...keys].reverse();
    const verdicts = ordered.map((cache, i) => ({ ...verdictOf(`d${i}`, cache), vote: i }));
    return writer.finish(endOf(key, claim?.fence ?? -1, { verdicts }));
  });
  expect(await Promise.all(ends)).toEqual(Array(6).fill(true));
  expect((await createVerdictReader(db)(keys)).size).toBe(40);
});
