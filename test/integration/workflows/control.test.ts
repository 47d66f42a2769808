import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { workflowIdOf } from '../../../src/commands/run/start-evaluation.ts';
import { findEvaluation, notifyCancel, setPaused } from '../../../src/db/evaluations.ts';
import { eventually } from '../../e2e/support/program.ts';
import { ECHO_SCRIPT, echoCases, JUDGE, judgedCases, ECHO, openRig, type Rig, type TestModel } from './support/rig.ts';
import { atRest } from './support/at-rest.ts';
import { countEnded, trialsByStatus } from './support/reads.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await openRig({ env: { ASSAY_SHARD_SIZE: '20', ASSAY_SHARD_WINDOW: '4' } });
});
afterAll(() => rig.close());

const handleOf = (id: string): ReturnType<Rig['client']['workflow']['getHandle']> =>
  rig.client.workflow.getHandle(workflowIdOf(id));
const some = (id: string, count: number): Promise<boolean> =>
  eventually(`${count} trials of ${id}`, async () => (await countEnded(rig.db, id)) >= count);

/** The most requests the model had open at once, looked at every few milliseconds. */
function watchInFlight(model: TestModel): { most(): number; stop(): void } {
  let most = 0;
  const timer = setInterval(() => (most = Math.max(most, model.stats().inFlight)), 3);
  return { most: () => most, stop: () => clearInterval(timer) };
}

describe('concurrency', () => {
  let watch: ReturnType<typeof watchInFlight>;
  let model: TestModel;
  beforeEach(async () => {
    model = await rig.model({ ...ECHO_SCRIPT, delay_ms: 150 });
    watch = watchInFlight(model);
  });
  afterEach(() => watch.stop());

  test('is reached and never exceeded, with shards that do not divide it', async () => {
    // Four shards at once share 10 lanes; 5 shards, the last one short.
    const row = await rig.evaluate(model, { cases: echoCases(95), suite: { concurrency: 10 } });
    expect(await trialsByStatus(rig.db, row.id)).toEqual({ passed: 95 });
    expect(watch.most()).toBeLessThanOrEqual(10);
    expect(watch.most()).toBeGreaterThanOrEqual(9);
  });

  test('below the number of shards at once', async () => {
    const row = await rig.evaluate(model, { cases: echoCases(45), suite: { concurrency: 3 } });
    expect(row.status).toBe('completed');
    expect(watch.most()).toBe(3);
  });

  test('can be lowered and raised while it runs', async () => {
    const id = await rig.run(model, { cases: echoCases(160), suite: { concurrency: 9 } });
    await some(id, 20);
    await handleOf(id).signal('setConcurrency', 2);
    // Trials in flight at the signal end first; then there are two, and not only for a moment.
    await eventually('two in flight over six trials', async () => {
      const low = watchInFlight(model);
      await some(id, (await countEnded(rig.db, id)) + 6);
      low.stop();
      return low.most() <= 2;
    });
    await handleOf(id).signal('setConcurrency', 30);
    await eventually('more in flight', () => Promise.resolve(model.stats().inFlight > 9));
    expect((await rig.ended(id)).status).toBe('completed');
    expect(watch.most()).toBeLessThanOrEqual(30);
    expect(model.stats().calls).toBe(160);
  });
});

test('pause lets the trials in flight end and starts none; unpause goes on', async () => {
  const model = await rig.model({ model: 'scripted-1', delay_ms: 60, rules: [JUDGE, ECHO] });
  const id = await rig.run(model, {
    cases: judgedCases(60),
    suite: { concurrency: 6, judge: { dimensions: ['task_completion'] } },
  });
  await some(id, 8);
  await setPaused(rig.db, id, true);
  await handleOf(id).signal('pause', true);
  await eventually('the trials in flight', () => atRest(rig.client, id));
  expect(model.stats().inFlight).toBe(0);
  expect(await trialsByStatus(rig.db, id)).not.toHaveProperty('open');
  const calls = model.stats().calls;
  expect(calls).toBeLessThan(120);
  await sleep(500);
  expect(model.stats().calls).toBe(calls);
  expect(await findEvaluation(rig.db, id)).toMatchObject({ status: 'paused', finished_at: null });
  await setPaused(rig.db, id, false);
  await handleOf(id).signal('pause', false);
  expect(await rig.ended(id)).toMatchObject({ status: 'completed', exit_code: 0 });
  expect(model.stats().calls).toBe(120);
});

test('a paused evaluation can be canceled', async () => {
  const model = await rig.model({ ...ECHO_SCRIPT, delay_ms: 60 });
  const id = await rig.run(model, { cases: echoCases(60), suite: { concurrency: 4 } });
  await some(id, 4);
  await setPaused(rig.db, id, true);
  await handleOf(id).signal('pause', true);
  await eventually('rest', () => atRest(rig.client, id));
  await handleOf(id).cancel();
  expect(await rig.ended(id)).toMatchObject({ status: 'canceled', exit_code: 3 });
});

describe('cancel', () => {
  test('ends the model calls within a second, keeps what is done, and a resume runs the rest', async () => {
    const slow = { ...ECHO, when: { user_matches: 'say (\\d\\d+)\\.' }, reply: { ...ECHO.reply, delay_ms: 30_000 } };
    const model = await rig.model({ model: 'scripted-1', rules: [slow, ECHO] });
    const id = await rig.run(model, { cases: echoCases(40), suite: { concurrency: 12 } });
    await eventually(
      '12 calls that hang, 10 trials',
      async () => model.stats().inFlight === 12 && (await countEnded(rig.db, id)) === 10,
    );
    const at = performance.now();
    await handleOf(id).cancel();
    await notifyCancel(rig.db, id);
    await eventually('no call in flight', () => Promise.resolve(model.stats().inFlight === 0));
    expect(performance.now() - at).toBeLessThan(1_000);
    expect(model.stats().aborted).toBe(12);
    expect(await rig.ended(id)).toMatchObject({ status: 'canceled', exit_code: 3 });
    const kept = await trialsByStatus(rig.db, id);
    expect(kept).toMatchObject({ passed: 10 });
    expect(kept).not.toHaveProperty('errored');
    const calls = model.stats().calls;
    await model.control({ delayMs: 0 });
    await rig.resume(id);
    expect(await rig.ended(id)).toMatchObject({ status: 'completed', exit_code: 0 });
    expect(await trialsByStatus(rig.db, id)).toEqual({ passed: 40 });
    expect(model.stats().calls - calls).toBe(30);
  });

  test('without the notice the heartbeat tells it', async () => {
    const model = await rig.model({ ...ECHO_SCRIPT, delay_ms: 30_000 });
    const id = await rig.run(model, { cases: echoCases(4) });
    await eventually('calls', () => Promise.resolve(model.stats().inFlight === 4));
    await handleOf(id).cancel();
    expect(await rig.ended(id, 10_000)).toMatchObject({ status: 'canceled' });
    expect(model.stats().aborted).toBe(4);
  });
});

test('starting an evaluation twice joins it: every trial once', async () => {
  const model = await rig.model({ ...ECHO_SCRIPT, delay_ms: 30 });
  const row = await rig.create(model, { cases: echoCases(30) });
  await Promise.all([rig.start(row), rig.start(row)]);
  await rig.start(row);
  expect(await rig.ended(row.id)).toMatchObject({ status: 'completed', exit_code: 0 });
  expect(model.stats().calls).toBe(30);
  // And once it has ended, a further start finds nothing to do.
  await rig.start(row);
  expect(await rig.ended(row.id)).toMatchObject({ status: 'completed', exit_code: 0 });
  expect(model.stats().calls).toBe(30);
});

test('R20: the status is terminal only once results, gates and retries are there', async () => {
  const flaky = { ...ECHO, replies: [{ status: 500 }, ECHO.reply] } as Record<string, unknown>;
  delete flaky['reply'];
  const model = await rig.model({ model: 'scripted-1', rules: [flaky] });
  const row = await rig.create(model, { cases: echoCases(12) });
  expect(row).toMatchObject({ status: 'running', started_at: null, finished_at: null, exit_code: null });
  const early: string[] = [];
  await rig.start(row);
  await eventually('the end', async () => {
    // One statement: what a reader sees at one moment.
    const seen = await sql<{ status: string; trials: number; results: number; gates: number }>`
      select e.status, (select count(*) from trial t where t.evaluation_id = e.id and t.status is not null) as trials,
        (select count(*) from evaluation_result r where r.evaluation_id = e.id) as results,
        (select count(*) from gate_result g where g.evaluation_id = e.id) as gates
      from evaluation e where e.id = ${row.id}`.execute(rig.db);
    const now = seen.rows[0];
    if (now === undefined || now.status === 'running') return false;
    if (now.trials !== 12 || now.results !== 1 || now.gates === 0) early.push(JSON.stringify(now));
    return true;
  });
  expect(early).toEqual([]);
  expect(model.stats().byStatus).toEqual({ 200: 12, 500: 12 });
});

test('R20: a workflow whose evaluation is not in the database fails at once and does no work', async () => {
  const model = await rig.model(ECHO_SCRIPT);
  const row = await rig.create(model, { cases: echoCases(1) });
  await expect(
    rig.start({ ...row, id: 'nobody-stored-this' }).then(() => rig.ended('nobody-stored-this', 10_000)),
  ).rejects.toThrow();
  const described = await handleOf('nobody-stored-this').describe();
  expect(described.status.name).toBe('FAILED');
  expect(model.stats().calls).toBe(0);
});

test('a shard terminated from outside: its trials are run by the next round', async () => {
  const model = await rig.model({ ...ECHO_SCRIPT, delay_ms: 80 });
  const id = await rig.run(model, { cases: echoCases(60), suite: { concurrency: 6 } });
  await some(id, 6);
  await rig.client.workflow.getHandle(`${workflowIdOf(id)}/shard/1`).terminate('by a test');
  expect(await rig.ended(id)).toMatchObject({ status: 'completed', exit_code: 0 });
  expect(await trialsByStatus(rig.db, id)).toEqual({ passed: 60 });
});

test('what only the user can mend stops the evaluation with its message', async () => {
  const model = await rig.model(ECHO_SCRIPT);
  const row = await rig.evaluate(model, { cases: judgedCases(5), suite: { judge: { prompts: 'no/such/folder' } } });
  expect(row).toMatchObject({ status: 'stopped', stop_kind: 'invalid_setup', exit_code: 2 });
  expect(row.stop_message).toMatch(/no\/such\/folder/);
  expect(model.stats().calls).toBe(0);
});
