import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connect, type Db } from '../../../src/db/connect.ts';
import { recordModelFailure, releaseTrial } from '../../../src/db/model-failures.ts';
import { loadJournal, loadTrajectory } from '../../../src/db/trial-reads.ts';
import { createTrialWriter, type TrialWriter } from '../../../src/db/trial-writer.ts';
import type { Claim } from '../../../src/db/trial-rows.ts';
import { createTestDatabase, type TestDatabase } from '../../fixtures/database.ts';
import { callOf, casesOf, endOf, keyOf, scoreOf, storeEvaluation, trajectoryOf } from './support.ts';

let database: TestDatabase;
let db: Db;
let one: TrialWriter;
let other: TrialWriter;
beforeAll(async () => {
  database = await createTestDatabase();
  db = connect(database.url);
  one = createTrialWriter(db, 'worker-1');
  other = createTrialWriter(db, 'worker-2');
  await storeEvaluation(db, 'e', casesOf(...Array.from({ length: 30 }, (_, index) => `c${index}`)));
});
afterAll(async () => {
  await db.destroy();
  await database.drop();
});

const claimed = async (writer: TrialWriter, key: ReturnType<typeof keyOf>): Promise<Claim> => {
  const claim = await writer.claim(key);
  if (claim === null) throw new Error('the trial has ended');
  return claim;
};
const rowOf = async (caseId: string): Promise<Record<string, unknown>> =>
  (
    await sql<Record<string, unknown>>`select * from trial where evaluation_id = 'e' and case_id = ${caseId}`.execute(
      db,
    )
  ).rows[0] ?? {};
const countOf = async (table: string, caseId: string): Promise<number> =>
  (
    await sql<{
      n: number;
    }>`select count(*) as n from ${sql.table(table)} where evaluation_id = 'e' and case_id = ${caseId}`.execute(db)
  ).rows[0]?.n ?? -1;

describe('calls that are recorded with the write that follows them', () => {
  const callsIn = (caseId: string): Promise<number> => countOf('model_call', caseId);

  test('with the trajectory; the process that goes on needs no claim, another one loses nobody', async () => {
    const key = keyOf('e', 'c20');
    const agent = await claimed(one, key);
    const stored = { key, fence: agent.fence, trajectory: trajectoryOf('hi'), cost_usd: 0.5 };
    expect(await one.saveTrajectory({ ...stored, calls: [callOf(key, agent.fence)], goesOn: true })).toBe(true);
    expect(await callsIn('c20')).toBe(1);
    expect(await rowOf('c20')).toMatchObject({ running: true, status: null });
    // Nobody died between the steps, but the step before may have called the judge: its journal is read.
    const moved = await claimed(other, key);
    expect(moved).toMatchObject({ deaths: 0, first: false, trajectory_fence: agent.fence });
    expect(await claimed(one, key)).toMatchObject({ deaths: 1 });
  });

  test('with the end', async () => {
    const key = keyOf('e', 'c21');
    const claim = await claimed(one, key);
    expect(await one.finish(endOf(key, claim.fence, { calls: [callOf(key, claim.fence)] }))).toBe(true);
    expect(await callsIn('c21')).toBe(1);
    expect(await rowOf('c21')).toMatchObject({ status: 'passed' });
  });

  test('not by a writer that was fenced off', async () => {
    const key = keyOf('e', 'c22');
    const zombie = await claimed(one, key);
    await claimed(other, key);
    const calls = [callOf(key, zombie.fence)];
    const stored = { key, fence: zombie.fence, trajectory: trajectoryOf('hi'), cost_usd: 0.5, calls, goesOn: true };
    expect(await one.saveTrajectory(stored)).toBe(false);
    expect(await one.finish(endOf(key, zombie.fence, { calls }))).toBe(false);
    expect(await callsIn('c22')).toBe(0);
  });
});

describe('claims', () => {
  test('the fence grows; only the first claim of a step is `first`', async () => {
    const key = keyOf('e', 'c0');
    const first = await claimed(one, key);
    const second = await claimed(one, key);
    expect(first).toMatchObject({ first: true, deaths: 0, trajectory_fence: null, cost_usd: null });
    expect(second.fence).toBeGreaterThan(first.fence);
    expect(second).toMatchObject({ first: false, deaths: 0 });
  });

  test('a claim by another worker after an unfinished one is a death; by the same worker it is not', async () => {
    const key = keyOf('e', 'c1');
    await claimed(one, key);
    expect((await claimed(one, key)).deaths).toBe(0);
    expect((await claimed(other, key)).deaths).toBe(1);
    expect((await claimed(one, key)).deaths).toBe(2);
  });

  test('a trial that was let go, or counted a failure, is no death', async () => {
    const key = keyOf('e', 'c2');
    const first = await claimed(one, key);
    await releaseTrial(db, key, first.fence);
    const second = await claimed(other, key);
    expect(second.deaths).toBe(0);
    expect(await recordModelFailure(db, key, second.fence, 'model_failures')).toBe(1);
    const third = await claimed(one, key);
    expect(third).toMatchObject({ deaths: 0, model_failures: 1 });
    // Counters of a claim that was fenced off do not move.
    expect(await recordModelFailure(db, key, second.fence, 'model_failures')).toBeNull();
    expect(await recordModelFailure(db, key, third.fence, 'model_failures')).toBe(2);
    expect(await recordModelFailure(db, key, third.fence, 'rate_limits')).toBe(1);
  });

  test('a trial that has ended cannot be claimed', async () => {
    const key = keyOf('e', 'c3');
    const claim = await claimed(one, key);
    expect(await one.finish(endOf(key, claim.fence))).toBe(true);
    expect(await other.claim(key)).toBeNull();
    expect(await rowOf('c3')).toMatchObject({ status: 'passed', running: false, deaths: 0 });
  });

  test('the judge step is a step of its own: its first claim is `first`, and the agent’s part is known', async () => {
    const key = keyOf('e', 'c4');
    const agent = await claimed(one, key);
    expect(await one.saveTrajectory({ key, fence: agent.fence, trajectory: trajectoryOf('hi'), cost_usd: 0.5 })).toBe(
      true,
    );
    // Another worker may judge: the agent's worker did not die.
    const judge = await claimed(other, key);
    expect(judge).toMatchObject({ first: true, deaths: 0, trajectory_fence: agent.fence, cost_usd: 0.5 });
  });
});

describe('the journal', () => {
  test('a call is stored once, whatever the number of tries, and read back as it was', async () => {
    const key = keyOf('e', 'c5');
    const { fence } = await claimed(one, key);
    const entry = callOf(key, fence);
    expect(await one.journal(entry)).toBe(true);
    expect(await one.journal(entry)).toBe(true);
    expect(await one.journal(callOf(key, fence, { sequence: 1, request_hash: 'r2' }))).toBe(true);
    expect(await loadJournal(db, key)).toMatchObject([
      { sequence: 0, request_hash: 'r1', response: entry.response },
      { sequence: 1, request_hash: 'r2' },
    ]);
  });

  test('a call fenced off is not stored', async () => {
    const key = keyOf('e', 'c6');
    const first = await claimed(one, key);
    const second = await claimed(other, key);
    expect(await one.journal(callOf(key, first.fence))).toBe(false);
    expect(await loadJournal(db, key)).toEqual([]);
    expect(await other.journal(callOf(key, second.fence))).toBe(true);
  });

  test('a call that replaces another replaces its tokens and money too', async () => {
    const key = keyOf('e', 'c7');
    const { fence } = await claimed(one, key);
    const before = callOf(key, fence);
    await one.journal(before);
    const usage = { input: 70, cached: 0, output: 30, reasoning: 0, total: 100 };
    await one.journal(
      callOf(key, fence, {
        request_hash: 'r9',
        response: { ...before.response, content: 'other', usage },
        cost_usd: 2,
      }),
    );
    const rows =
      await sql`select request_hash, total_tokens, cost_usd from model_call where evaluation_id = 'e' and case_id = 'c7'`.execute(
        db,
      );
    expect(rows.rows).toEqual([{ request_hash: 'r9', total_tokens: 100, cost_usd: 2 }]);
  });
});

describe('the end of a trial', () => {
  test('is one transaction: a score that cannot be stored leaves nothing of it', async () => {
    const key = keyOf('e', 'c8');
    const { fence } = await claimed(one, key);
    await expect(one.finish(endOf(key, fence, { scores: [scoreOf('good', 1), scoreOf('bad', 7)] }))).rejects.toThrow(
      /check/,
    );
    expect(await rowOf('c8')).toMatchObject({ status: null, running: true });
    expect(await countOf('score', 'c8')).toBe(0);
    expect(await countOf('trajectory', 'c8')).toBe(0);
    expect(await one.finish(endOf(key, fence))).toBe(true);
    expect(await countOf('score', 'c8')).toBe(2);
    expect(await countOf('trajectory', 'c8')).toBe(1);
  });

  test('repeated after a lost answer says yes and changes nothing', async () => {
    const key = keyOf('e', 'c9');
    const { fence } = await claimed(one, key);
    expect(await one.finish(endOf(key, fence))).toBe(true);
    const before = await rowOf('c9');
    expect(await one.finish(endOf(key, fence, { status: 'failed', cost_usd: 9 }))).toBe(true);
    expect(await rowOf('c9')).toEqual(before);
    expect(await countOf('score', 'c9')).toBe(2);
  });

  test('stores verdicts of the judge and the numbers of the trajectory', async () => {
    const key = keyOf('e', 'c10');
    const agent = await claimed(one, key);
    await one.saveTrajectory({ key, fence: agent.fence, trajectory: trajectoryOf('hi'), cost_usd: 0.5 });
    const judge = await claimed(one, key);
    const verdict = {
      dimension: 'task_completion',
      vote: 0,
      prompt_hash: 'p',
      model: 'j',
      params: {},
      raw_reply: '{}',
      parsed: null,
      value: null,
      passed: null,
      unscored_cause: 'judge_unparsable',
      reason: null,
      round: 0,
      cached_from: null,
      cache_key: null,
    };
    const end = endOf(key, judge.fence, {
      trajectory: null,
      cost_usd: null,
      status: 'unscored',
      judge_cost_usd: 0.1,
      judge_tokens: 7,
      verdicts: [verdict],
    });
    expect(await one.finish(end)).toBe(true);
    expect(await rowOf('c10')).toMatchObject({
      status: 'unscored',
      final_status: 'COMPLETED',
      iterations: 2,
      total_tokens: 10,
      latency_ms: 250,
      cost_usd: 0.5,
      judge_cost_usd: 0.1,
      judge_tokens: 7,
    });
    expect(await loadTrajectory(db, key)).toEqual(trajectoryOf('hi'));
    expect(await countOf('judge_verdict', 'c10')).toBe(1);
  });

  test('a zombie cannot write: neither trajectory nor end', async () => {
    const key = keyOf('e', 'c11');
    const zombie = await claimed(one, key);
    const owner = await claimed(other, key);
    expect(
      await one.saveTrajectory({ key, fence: zombie.fence, trajectory: trajectoryOf('zombie'), cost_usd: 1 }),
    ).toBe(false);
    expect(await one.finish(endOf(key, zombie.fence, { status: 'failed' }))).toBe(false);
    expect(await loadTrajectory(db, key)).toBeNull();
    expect(await other.finish(endOf(key, owner.fence))).toBe(true);
    // Nor after the end.
    expect(await one.finish(endOf(key, zombie.fence, { status: 'failed' }))).toBe(false);
    expect(
      await one.saveTrajectory({ key, fence: zombie.fence, trajectory: trajectoryOf('zombie'), cost_usd: 1 }),
    ).toBe(false);
    expect(await rowOf('c11')).toMatchObject({ status: 'passed', worker: 'worker-2' });
    expect((await loadTrajectory(db, key))?.answer).toBe('done');
  });

  test('in one batch each trial gets its own answer', async () => {
    const keys = ['c12', 'c13', 'c14'].map((id) => keyOf('e', id));
    const claims = await Promise.all(keys.map((key) => claimed(one, key)));
    await claimed(other, keyOf('e', 'c13'));
    const results = await Promise.all(keys.map((key, index) => one.finish(endOf(key, claims[index]?.fence ?? 0))));
    expect(results).toEqual([true, false, true]);
  });
});

test('R15: two writers of the same rows in opposite order do not deadlock', async () => {
  const ids = Array.from({ length: 60 }, (_, index) => `r15-${String(index).padStart(2, '0')}`);
  await storeEvaluation(db, 'r15', casesOf(...ids));
  const keys = ids.map((id) => keyOf('r15', id));
  const reversed = [...keys].reverse();
  const deadlocks = async (): Promise<number> =>
    (
      await sql<{ n: number }>`select deadlocks as n from pg_stat_database where datname = current_database()`.execute(
        db,
      )
    ).rows[0]?.n ?? -1;
  const before = await deadlocks();
  for (let round = 0; round < 25; round += 1) {
    const [mine, theirs] = await Promise.all([
      Promise.all(keys.map((key) => one.claim(key))),
      Promise.all(reversed.map((key) => other.claim(key))),
    ]);
    expect(new Set([...mine, ...theirs].map((claim) => claim?.fence)).size).toBe(120);
    // Of the two claims of each trial one holds; both try everything, in opposite order.
    const back = [...theirs].reverse();
    const journaled = await Promise.all([
      ...keys.map((key, index) => one.journal(callOf(key, mine[index]?.fence ?? 0))),
      ...reversed.map((key, index) => other.journal(callOf(key, theirs[index]?.fence ?? 0))),
    ]);
    expect(journaled.filter(Boolean)).toHaveLength(60);
    const saved = await Promise.all([
      ...keys.map((key, index) =>
        one.saveTrajectory({ key, fence: mine[index]?.fence ?? 0, trajectory: trajectoryOf('x'), cost_usd: null }),
      ),
      ...reversed.map((key, index) =>
        other.saveTrajectory({ key, fence: theirs[index]?.fence ?? 0, trajectory: trajectoryOf('y'), cost_usd: null }),
      ),
    ]);
    expect(saved.filter(Boolean)).toHaveLength(60);
    expect(back).toHaveLength(60);
  }
  await sql`select pg_stat_force_next_flush()`.execute(db);
  expect(await deadlocks()).toBe(before);
});
