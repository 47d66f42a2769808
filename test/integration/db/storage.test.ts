import fc from 'fast-check';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { sql } from 'kysely';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { EvalCase } from '../../../src/core/case.ts';
import { connect, type Db } from '../../../src/db/connect.ts';
import { escapeText } from '../../../src/core/storable-text.ts';
import { toJsonb } from '../../../src/db/escape.ts';
import { loadMissingShards, loadMissingTrials } from '../../../src/db/missing-trials.ts';
import { streamCases } from '../../../src/db/results.ts';
import { createCaseReader, loadTrajectory } from '../../../src/db/trial-reads.ts';
import { createTrialWriter } from '../../../src/db/trial-writer.ts';
import { findEvaluation } from '../../../src/db/evaluations.ts';
import { compareCaseIds } from '../../../src/statistics/case-order.ts';
import { eventually } from '../../e2e/support/program.ts';
import { createTestDatabase, type TestDatabase } from '../../fixtures/database.ts';
import { casesOf, endOf, keyOf, scoreOf, storeEvaluation, trajectoryOf } from './support.ts';

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

describe('D5: what Postgres refuses', () => {
  const nul = 'a\u0000b \ud800 \u001a0000 \u{1f600}';

  test('D5: NULs and lone surrogates are stored and read back, in keys and ids too', async () => {
    const evalCase: EvalCase = {
      id: `case ${nul}`,
      input: nul,
      expected: { answer: nul },
      category: nul,
      tags: [nul],
      metadata: { [nul]: nul },
    };
    await storeEvaluation(db, 'd5', [evalCase]);
    const stored = await createCaseReader(db)('d5', 0);
    expect(stored.evalCase).toEqual({ ...evalCase });
    const writer = createTrialWriter(db, 'w');
    const key = keyOf('d5', evalCase.id);
    const claim = await writer.claim(key);
    const trajectory = { ...trajectoryOf(nul), end_state: { [nul]: nul } };
    const scores = [scoreOf('answer_contains', 0, { reason: `no ${nul}`, details: { [nul]: [nul] } })];
    expect(
      await writer.finish(
        endOf(key, claim?.fence ?? 0, { status: 'failed', trajectory, scores, error: { kind: 'k', message: nul } }),
      ),
    ).toBe(true);
    expect(await loadTrajectory(db, key)).toEqual(trajectory);
    const pages = await Array.fromAsync(streamCases(db, 'd5'));
    expect(pages.flat()).toMatchObject([
      {
        evalCase: { id: evalCase.id, category: nul, tags: [nul] },
        trials: [{ case_id: evalCase.id, error_message: nul, scores: [{ reason: `no ${nul}` }] }],
      },
    ]);
    expect(await loadMissingTrials(db, { evaluationId: 'd5', from: 0, to: 10 })).toEqual([]);
  });

  test('D5: Postgres accepts every escaped text and JSON, and gives it back', async () => {
    const unit = fc.oneof(
      fc.constantFrom('\u0000', '\u001a', '\ud800', '\udfff', '"', '\\'),
      fc.integer({ min: 0, max: 0xffff }).map((n) => String.fromCharCode(n)),
    );
    const text = fc.array(unit, { maxLength: 8 }).map((parts) => parts.join(''));
    await fc.assert(
      fc.asyncProperty(fc.array(text, { minLength: 1, maxLength: 30 }), async (texts) => {
        // V8 13.6 (Node 24) can misread the escape of a key as a backslash when an object before it had the key "\\".
        const keys = texts.map((key) => key.replaceAll('\\', '/'));
        const value = { list: texts, keys: Object.fromEntries(keys.map((key) => [key, key])) };
        const rows = await sql<{
          list: string[];
          value: unknown;
        }>`select ${texts.map(escapeText)}::text[] as list, ${toJsonb(value)}::jsonb as value`.execute(db);
        expect(rows.rows[0]?.list).toEqual(texts);
        expect(rows.rows[0]?.value).toEqual(value);
      }),
      { numRuns: 60 },
    );
  });
});

describe('R14: connections that die', () => {
  const killOthers = (): Promise<unknown> =>
    admin(
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${database.name}' and application_name = 'assay' and pid <> pg_backend_pid()`,
    );
  async function admin(text: string): Promise<unknown> {
    const client = new pg.Client({ connectionString: database.url, application_name: 'admin' });
    await client.connect();
    try {
      return await client.query(text);
    } finally {
      await client.end();
    }
  }

  test('R14: an idle client whose backend is killed is told of, and the next query works', async () => {
    const errors: string[] = [];
    const own = connect(database.url, { poolSize: 3, onConnectionError: (error) => void errors.push(error.message) });
    await Promise.all([1, 2, 3].map(() => sql`select pg_sleep(0.05)`.execute(own)));
    await killOthers();
    // Each of the three is told of by its pool and by itself.
    await eventually('the errors of idle clients', () => Promise.resolve(errors.length >= 6));
    expect((await sql<{ one: number }>`select 1 as one`.execute(own)).rows).toEqual([{ one: 1 }]);
    await own.destroy();
  });

  test('R14: a backend killed inside a transaction leaves no half of it, and no crash', async () => {
    const own = connect(database.url, { poolSize: 1, onConnectionError: () => undefined });
    await storeEvaluation(db, 'r14', casesOf('a'));
    const half = own.transaction().execute(async (tx) => {
      await tx.updateTable('evaluation').set({ verdict: 'half' }).where('id', '=', 'r14').execute();
      await killOthers();
      await tx.updateTable('evaluation').set({ verdict: 'whole' }).where('id', '=', 'r14').execute();
    });
    await expect(half).rejects.toThrow();
    expect((await findEvaluation(own, 'r14'))?.verdict).toBeNull();
    await own.destroy();
  });

  test('R14: trial writes go on over killed backends: each trial ends exactly once', async () => {
    const ids = Array.from({ length: 40 }, (_, index) => `k${index}`);
    await storeEvaluation(db, 'r14b', casesOf(...ids));
    const own = connect(database.url, { poolSize: 4, onConnectionError: () => undefined });
    const writer = createTrialWriter(own, 'w');
    const kill = { on: true };
    const killer = (async () => {
      while (kill.on) await killOthers();
    })();
    const kept = await Promise.all(
      ids
        .map(async (id) => {
          const key = keyOf('r14b', id);
          const claim = await writer.claim(key);
          if (claim === null) return false;
          return writer.finish(endOf(key, claim.fence));
        })
        .concat(
          (async () => {
            await new Promise((resolve) => setTimeout(resolve, 700));
            kill.on = false;
            return true;
          })(),
        ),
    );
    await killer;
    expect(kept.every(Boolean)).toBe(true);
    const counts = await sql<{
      trials: number;
      scores: number;
    }>`select (select count(*) from trial where evaluation_id = 'r14b' and status = 'passed') as trials,
      (select count(*) from score where evaluation_id = 'r14b') as scores`.execute(db);
    expect(counts.rows).toEqual([{ trials: 40, scores: 80 }]);
    await own.destroy();
  });
});

describe('missing trials', () => {
  beforeAll(async () => {
    const [a, b, c, d] = casesOf('a', 'b', 'c', 'd') as [EvalCase, EvalCase, EvalCase, EvalCase];
    // Ordinals: a 0-2, b 3, c 4-8, d 9-10.
    await storeEvaluation(db, 'm', [
      { ...a, trials: 3 },
      { ...b, trials: 1 },
      { ...c, trials: 5 },
      { ...d, trials: 2 },
    ]);
  });
  const missing = (from: number, to: number): Promise<unknown> =>
    loadMissingTrials(db, { evaluationId: 'm', from, to });

  test('ranges cut cases with different numbers of trials where they must', async () => {
    expect(await missing(0, 100)).toEqual([
      [0, 1],
      [0, 2],
      [0, 3],
      [1, 1],
      [2, 1],
      [2, 2],
      [2, 3],
      [2, 4],
      [2, 5],
      [3, 1],
      [3, 2],
    ]);
    expect(await missing(2, 6)).toEqual([
      [0, 3],
      [1, 1],
      [2, 1],
      [2, 2],
    ]);
    expect(await missing(4, 5)).toEqual([[2, 1]]);
    expect(await missing(11, 20)).toEqual([]);
    expect(await loadMissingShards(db, 'm', 4)).toEqual([0, 1, 2]);
  });

  test('shards of any size hold every trial once', async () => {
    const all = await missing(0, 100);
    for (const size of [1, 2, 3, 5, 7, 50]) {
      const shards = await loadMissingShards(db, 'm', size);
      const parts = await Promise.all(shards.map((number) => missing(number * size, (number + 1) * size)));
      expect(parts.flat()).toEqual(all);
    }
  });

  test('ended trials are left out, begun ones are not', async () => {
    const writer = createTrialWriter(db, 'w');
    for (const [caseId, index] of [
      ['a', 2],
      ['c', 1],
      ['c', 2],
      ['c', 3],
      ['c', 4],
    ] as const) {
      const key = keyOf('m', caseId, index);
      const claim = await writer.claim(key);
      await writer.finish(endOf(key, claim?.fence ?? 0));
    }
    await writer.claim(keyOf('m', 'b'));
    expect(await missing(0, 100)).toEqual([
      [0, 1],
      [0, 3],
      [1, 1],
      [2, 5],
      [3, 1],
      [3, 2],
    ]);
    expect(await loadMissingShards(db, 'm', 4)).toEqual([0, 2]);
  });
});

test('streamCases gives every case once in the order of compareCaseIds, page by page', async () => {
  const ids = [
    ...Array.from({ length: 1_200 }, (_, index) => `k${(index * 7919) % 1_200}`),
    '\u{1f600}',
    '\uff01',
    'Ä',
    'z',
    'Z',
    '中',
  ];
  await storeEvaluation(db, 'stream', casesOf(...ids));
  const pages: string[][] = [];
  for await (const page of streamCases(db, 'stream')) pages.push(page.map((one) => one.evalCase.id));
  expect(pages.flat()).toEqual([...ids].sort(compareCaseIds));
  expect(Math.max(...pages.map((page) => page.length))).toBeLessThanOrEqual(500);
  expect(pages).toHaveLength(3);
});

test('streamCases says how a trial came to no answer, unless it answered, passed or ended as its case wants it', async () => {
  const broken = { final_status: 'FAILED', final_status_reason: 'exit code 2 \u0000', answer: null } as const;
  const ends = {
    broken: { status: 'failed', ...broken },
    late: { status: 'failed', ...broken, final_status: 'TIMEOUT', final_status_reason: null, answer: ' ' },
    answered: { status: 'failed', ...broken, answer: 'half of it' },
    passed: { status: 'passed', ...broken },
    stopped: { status: 'failed', ...broken, final_status: 'MAX_ITERATIONS' },
    wanted: { status: 'failed', ...broken },
  } as const;
  const cases = casesOf(...Object.keys(ends)).map((one) =>
    one.id === 'wanted' ? { ...one, expected: { final_status: 'FAILED' as const } } : one,
  );
  await storeEvaluation(db, 'endings', cases);
  const writer = createTrialWriter(db, 'w');
  for (const [id, { status, ...ending }] of Object.entries(ends)) {
    const key = keyOf('endings', id);
    const claim = await writer.claim(key);
    const trajectory = { ...trajectoryOf(''), ...ending };
    await writer.finish(endOf(key, claim?.fence ?? 0, { status, trajectory }));
  }
  const pages = await Array.fromAsync(streamCases(db, 'endings'));
  const found = pages.flat().map(({ caseId, trials }) => [caseId, trials[0]?.no_answer]);
  expect(Object.fromEntries(found)).toEqual({
    broken: 'FAILED: exit code 2 \u0000',
    late: 'TIMEOUT',
    answered: null,
    passed: null,
    stopped: null,
    wanted: null,
  });
});

test('rows written through a connection that knew the tables when they were small cost no more each', async () => {
  // The check of the foreign key of score is planned here, on a table of a page or two, and kept.
  const own = connect(database.url, { poolSize: 1, alwaysByIndex: true });
  await storeEvaluation(db, 'small', casesOf('a'));
  const writer = createTrialWriter(own, 'w');
  const claim = await writer.claim(keyOf('small', 'a'));
  await writer.finish(endOf(keyOf('small', 'a'), claim?.fence ?? 0));
  await storeMany(own);
  await own.destroy();
  // 20,000 scans of 20,000 rows would take minutes, and the test's bound is one.
  const counted = await sql<{ n: number }>`select count(*) as n from score where evaluation_id = 'many'`.execute(db);
  expect(counted.rows[0]?.n).toBe(20_000);
});

/** 5,000 cases of four trials, each with a long reason. */
async function storeMany(own: Db): Promise<void> {
  await storeEvaluation(own, 'many', []);
  await sql`
    insert into evaluation_case (evaluation_id, position, case_id, content_hash, content, trials, first_ordinal)
    select 'many', n, 'case-' || lpad(n::text, 6, '0'), 'h', jsonb_build_object('id', 'case-' || lpad(n::text, 6, '0'), 'expected', '{}'::jsonb), 4, n * 4 from generate_series(0, 4999) n`.execute(
    own,
  );
  await sql`
    insert into trial (evaluation_id, case_id, trial_index, status, fence, worker, running)
    select 'many', 'case-' || lpad(n::text, 6, '0'), k, 'passed', 0, 'w', false from generate_series(0, 4999) n, generate_series(1, 4) k`.execute(
    own,
  );
  await sql`
    insert into score (evaluation_id, case_id, trial_index, scorer, value, passed, deciding, violation, reason)
    select evaluation_id, case_id, trial_index, 'answer_contains', 1, true, true, false, repeat('x', 2000) from trial where evaluation_id = 'many'`.execute(
    own,
  );
}

test('streaming 20,000 trials needs no memory in proportion', async () => {
  await sql`analyze`.execute(db);
  let trials = 0;
  let most = 0;
  // What is alive, whenever the collector last ran.
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const alive = (): number => {
    collect();
    return process.memoryUsage().heapUsed;
  };
  const before = alive();
  let pages = 0;
  for await (const page of streamCases(db, 'many')) {
    pages += 1;
    if (pages > 11) throw new Error(`page ${pages} begins with ${JSON.stringify(page[0]?.evalCase)}`);
    trials += page.reduce((sum, one) => sum + one.trials.length, 0);
    most = Math.max(most, alive() - before);
  }
  expect(trials).toBe(20_000);
  // All reasons together are 40 MB (80 as UTF-16); a page holds a tenth.
  expect(most).toBeLessThan(20 * 1024 * 1024);
});
