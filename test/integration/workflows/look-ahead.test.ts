import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { workflowIdOf } from '../../../src/commands/run/start-evaluation.ts';
import { setPaused } from '../../../src/db/evaluations.ts';
import type { RunningWorker } from '../../../src/worker.ts';
import { cleanEnv, eventually, startAssay } from '../../e2e/support/program.ts';
import { atRest } from './support/at-rest.ts';
import { countEnded, loadTrials, trialsByStatus } from './support/reads.ts';
import { ECHO, ECHO_SCRIPT, echoCases, JUDGE, judgedCases, openRig, type Rig } from './support/rig.ts';

let rig: Rig;
let worker: RunningWorker;
beforeAll(async () => {
  rig = await openRig({ workers: 0 });
});
beforeEach(async () => {
  worker = await rig.worker();
});
afterEach(() => worker.stop());
afterAll(() => rig.close());

/** What the first shard handed out: the most trials at once, and the results the worker gave. */
async function handedOut(id: string, { client }: Rig = rig): Promise<{ most: number; results: string[] }> {
  const { events } = await client.workflow.getHandle(`${workflowIdOf(id)}/shard/0`).fetchHistory();
  let [now, most] = [0, 0];
  const results: string[] = [];
  for (const event of events ?? []) {
    if (event.activityTaskScheduledEventAttributes) most = Math.max(most, (now += 1));
    const completed = event.activityTaskCompletedEventAttributes;
    if (completed) results.push(Buffer.from(completed.result?.payloads?.[0]?.data ?? []).toString());
    if (completed || event.activityTaskFailedEventAttributes || event.activityTaskCanceledEventAttributes) now -= 1;
  }
  return { most, results };
}

const handedBack = ({ results }: { results: string[] }): number =>
  results.filter((text) => text.includes('"later"')).length;

describe('the next trials wait in the worker', () => {
  test('so that a lane is never idle; in flight there are no more than the concurrency', async () => {
    const model = await rig.model({ ...ECHO_SCRIPT, delay_ms: 40 });
    let most = 0;
    const timer = setInterval(() => (most = Math.max(most, model.stats().inFlight)), 1);
    const row = await rig.evaluate(model, { cases: echoCases(160), suite: { concurrency: 8 } });
    clearInterval(timer);
    expect(row).toMatchObject({ status: 'completed', exit_code: 0 });
    expect(most).toBe(8);
    expect(model.stats()).toMatchObject({ calls: 160, repeated: 0 });
    const shard = await handedOut(row.id);
    expect(shard.most).toBe(15);
    expect(handedBack(shard)).toBe(0);
  });

  test('one that waits long is handed back and runs later, once; from then on none is handed out early', async () => {
    const slow = { ...ECHO, when: { user_matches: 'say (\\d\\d+)\\.' }, reply: { ...ECHO.reply, delay_ms: 3_500 } };
    const model = await rig.model({ model: 'scripted-1', rules: [slow, ECHO] });
    const row = await rig.evaluate(model, { cases: echoCases(18), suite: { concurrency: 4 } });
    expect(row).toMatchObject({ status: 'completed', exit_code: 0 });
    expect(model.stats()).toMatchObject({ calls: 18, repeated: 0 });
    expect(await loadTrials(rig.db, row.id)).toMatchObject(
      Array.from({ length: 18 }, () => ({ status: 'passed', deaths: 0, model_failures: 0 })),
    );
    const shard = await handedOut(row.id);
    expect(shard.most).toBe(8);
    expect(handedBack(shard)).toBe(4);
  });

  test('a worker that stops hands them on: another runs every trial, none counts as a death', async () => {
    const model = await rig.model({ ...ECHO_SCRIPT, delay_ms: 120 });
    const id = await rig.run(model, { cases: echoCases(80), suite: { concurrency: 8 } });
    await eventually('trials', async () => (await countEnded(rig.db, id)) >= 20);
    const next = await rig.worker();
    await worker.stop();
    worker = next;
    expect(await rig.ended(id)).toMatchObject({ status: 'completed', exit_code: 0 });
    expect(await loadTrials(rig.db, id)).toMatchObject(
      Array.from({ length: 80 }, () => ({ status: 'passed', deaths: 0 })),
    );
    // Those in flight at the stop, at most.
    expect(model.stats().calls).toBeLessThanOrEqual(88);
  });

  test('with a second worker from the start no trial is handed out early for long', async () => {
    const second = await rig.worker();
    const model = await rig.model({ ...ECHO_SCRIPT, delay_ms: 60 });
    let most = 0;
    const timer = setInterval(() => (most = Math.max(most, model.stats().inFlight)), 1);
    const row = await rig.evaluate(model, { cases: echoCases(120), suite: { concurrency: 8 } });
    clearInterval(timer);
    await second.stop();
    expect(await trialsByStatus(rig.db, row.id)).toEqual({ passed: 120 });
    expect(most).toBeLessThanOrEqual(12);
  });

  test('a trial that stops the evaluation (--fail-fast) turns away those that wait', async () => {
    const user = (user_matches: string): object => ({ when: { user_matches } });
    const wrong = { ...user('say 10\\.'), reply: { content: 'no', delay_ms: 600 } };
    const slow = { ...ECHO, ...user('say (\\d\\d+)\\.'), reply: { ...ECHO.reply, delay_ms: 1_500 } };
    const model = await rig.model({ model: 'scripted-1', rules: [wrong, slow, ECHO] });
    const row = await rig.evaluate(model, {
      cases: echoCases(30),
      suite: { concurrency: 4 },
      options: { failFast: true },
    });
    expect(row).toMatchObject({ status: 'stopped', stop_kind: 'fail_fast' });
    expect((await handedOut(row.id)).most).toBe(8);
    // 0 to 9 quickly, then 10 to 13; 14 to 17 were waiting.
    expect(model.stats().calls).toBe(14);
  });

  test.each([
    ['', { cases: echoCases(12), suite: { concurrency: 1 } }, 1],
    [', judged', { cases: judgedCases(12), suite: { concurrency: 1, judge: { dimensions: ['task_completion'] } } }, 2],
  ])('the next begins while the one before%s is being stored', async (_, parts, callsEach) => {
    const model = await rig.model({ ...ECHO_SCRIPT, delay_ms: 100 });
    const id = await rig.run(model, { ...parts, options: { judgeCache: false } });
    await eventually('a trial to end', async () => (await countEnded(rig.db, id)) >= 1);
    await rig.db.transaction().execute(async (tx) => {
      // No end can be written meanwhile; claims, calls and trajectories can.
      await sql`lock table score in exclusive mode`.execute(tx);
      const ended = await countEnded(rig.db, id);
      const next = (ended + 1) * callsEach + 1;
      await eventually('a call of the trial after it', () => Promise.resolve(model.stats().calls >= next));
      expect(await countEnded(rig.db, id)).toBe(ended);
      expect(model.stats().inFlight).toBeLessThanOrEqual(1);
    });
    expect(await rig.ended(id)).toMatchObject({ status: 'completed', exit_code: 0 });
    expect(model.stats()).toMatchObject({ calls: 12 * callsEach, repeated: 0 });
  });

  test('a trial whose judge is tried again goes on apart: its lane is not free before it ends', async () => {
    const flaky = {
      when: { model: 'scripted-judge', contains: 'echo 2' },
      replies: [{ status: 500 }, { ...JUDGE.reply, delay_ms: 800 }],
      allow_repeat: true,
    };
    const model = await rig.model({ model: 'scripted-1', delay_ms: 100, rules: [flaky, JUDGE, ECHO] });
    let most = 0;
    const timer = setInterval(() => (most = Math.max(most, model.stats().inFlight)), 1);
    const row = await rig.evaluate(model, {
      cases: judgedCases(60),
      suite: { concurrency: 8, judge: { dimensions: ['task_completion'] } },
      options: { judgeCache: false },
    });
    clearInterval(timer);
    expect(await trialsByStatus(rig.db, row.id)).toEqual({ passed: 60 });
    expect((await handedOut(row.id)).most).toBeGreaterThan(8);
    expect(most).toBeLessThanOrEqual(8);
    // Two calls a trial, and again those that failed (of 2 and 20 to 29).
    expect(model.stats()).toMatchObject({ calls: 131, byStatus: { 200: 120, 500: 11 } });
  });

  test('what a terminated run left in the worker does not send its trials back and forth', async () => {
    const slow = { ...ECHO, when: { user_matches: 'say (1\\d)\\.' }, reply: { ...ECHO.reply, delay_ms: 60_000 } };
    const model = await rig.model({ model: 'scripted-1', rules: [slow, ECHO] });
    const id = await rig.run(model, { cases: echoCases(40), suite: { concurrency: 7 } });
    await eventually('calls that hang', () => Promise.resolve(model.stats().inFlight === 7));
    await rig.client.workflow.getHandle(workflowIdOf(id)).terminate('by a test');
    await model.control({ delayMs: 0 });
    await rig.resume(id);
    expect(await rig.ended(id)).toMatchObject({ status: 'completed', exit_code: 0 });
    expect(await trialsByStatus(rig.db, id)).toEqual({ passed: 40 });
    const shard = await handedOut(id);
    expect(handedBack(shard)).toBe(0);
    expect(shard.most).toBeGreaterThan(7);
  });

  test('a worker that is killed while some wait: another runs every trial, deaths are of those that had begun', async () => {
    await worker.stop();
    const program = startAssay(['worker'], {
      cwd: process.cwd(),
      env: cleanEnv({
        DATABASE_URL: rig.databaseUrl,
        TEMPORAL_ADDRESS: inject('temporalAddress'),
        ASSAY_TASK_QUEUE: rig.config.taskQueue,
        ASSAY_HEARTBEAT_TIMEOUT_MS: '5000',
        OPENAI_API_KEY: 'sk-test-not-a-real-key',
      }),
    });
    const slow = { ...ECHO, when: { user_matches: 'say ([2-9]\\d)\\.' }, reply: { ...ECHO.reply, delay_ms: 60_000 } };
    const model = await rig.model({ model: 'scripted-1', delay_ms: 100, rules: [slow, ECHO] });
    const id = await rig.run(model, { cases: echoCases(60), suite: { concurrency: 8 } });
    await eventually(
      'calls that hang',
      async () => model.stats().inFlight === 8 && (await countEnded(rig.db, id)) === 20,
    );
    program.kill('SIGKILL');
    await program.exited;
    await model.control({ delayMs: 100 });
    let most = 0;
    const timer = setInterval(() => (most = Math.max(most, model.stats().inFlight)), 1);
    worker = await rig.worker();
    const row = await rig.ended(id);
    clearInterval(timer);
    expect(row).toMatchObject({ status: 'completed', exit_code: 0 });
    const trials = await loadTrials(rig.db, id);
    expect(trials).toMatchObject(Array.from({ length: 60 }, () => ({ status: 'passed' })));
    expect(trials.filter(({ deaths }) => deaths > 0).map(({ deaths }) => deaths)).toEqual(Array(8).fill(1));
    expect(most).toBeLessThanOrEqual(8);
  });

  test('a pause turns away those that wait: none begins after it', async () => {
    const slow = { ...ECHO, when: { user_matches: 'say (\\d\\d+)\\.' }, reply: { ...ECHO.reply, delay_ms: 900 } };
    const model = await rig.model({ model: 'scripted-1', rules: [slow, ECHO] });
    const id = await rig.run(model, { cases: echoCases(20), suite: { concurrency: 4 } });
    await eventually('four slow calls', () => Promise.resolve(model.stats().inFlight === 4));
    await setPaused(rig.db, id, true);
    const workflow = rig.client.workflow.getHandle(workflowIdOf(id));
    await workflow.signal('pause', true);
    await eventually('rest', () => atRest(rig.client, id));
    // 0 to 9 quickly, then 10 to 13; 14 to 17 were waiting, and would begin now.
    await sleep(500);
    expect(model.stats().calls).toBe(14);
    expect((await handedOut(id)).most).toBe(8);
    await setPaused(rig.db, id, false);
    await workflow.signal('pause', false);
    expect(await rig.ended(id)).toMatchObject({ status: 'completed', exit_code: 0 });
    expect(model.stats()).toMatchObject({ calls: 20, repeated: 0 });
  });

  test('a cancellation ends those that wait', async () => {
    const hang = { ...ECHO, when: { user_matches: 'say (\\d\\d+)\\.' }, reply: { ...ECHO.reply, delay_ms: 30_000 } };
    const model = await rig.model({ model: 'scripted-1', rules: [hang, ECHO] });
    const id = await rig.run(model, { cases: echoCases(30), suite: { concurrency: 4 } });
    await eventually('calls that hang', () => Promise.resolve(model.stats().inFlight === 4));
    await rig.client.workflow.getHandle(workflowIdOf(id)).cancel();
    expect(await rig.ended(id, 15_000)).toMatchObject({ status: 'canceled' });
    expect(model.stats().aborted).toBe(4);
    await rig.resume(id);
    await eventually('calls that hang again', () => Promise.resolve(model.stats().inFlight === 4));
    await rig.client.workflow.getHandle(workflowIdOf(id)).cancel();
    await rig.ended(id, 15_000);
  });
});

test('with a queue for the judge the lanes of a worker cannot be counted: none is handed out early', async () => {
  const apart = await openRig({ env: { ASSAY_JUDGE_TASK_QUEUE: 'look-ahead-judge' } });
  try {
    const model = await apart.model({ ...ECHO_SCRIPT, delay_ms: 20 });
    const row = await apart.evaluate(model, { cases: echoCases(80), suite: { concurrency: 8 } });
    expect(row.status).toBe('completed');
    expect((await handedOut(row.id, apart)).most).toBe(8);
  } finally {
    await apart.close();
  }
});
