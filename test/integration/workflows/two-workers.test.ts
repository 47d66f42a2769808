import { afterAll, beforeAll, expect, test } from 'vitest';
import { workflowIdOf } from '../../../src/commands/run/start-evaluation.ts';
import { notifyCancel } from '../../../src/db/evaluations.ts';
import type { RunningWorker } from '../../../src/worker.ts';
import { eventually } from '../../e2e/support/program.ts';
import { ECHO_SCRIPT, echoCases, JUDGE, ECHO, judgedCases, openRig, type Rig } from './support/rig.ts';
import { countEnded, loadTrials, trialsByStatus } from './support/reads.ts';

let rig: Rig;
let second: RunningWorker;
beforeAll(async () => {
  rig = await openRig({ env: { ASSAY_SHARD_SIZE: '10', ASSAY_MAX_ACTIVITIES: '8' } });
  second = await rig.worker();
});
afterAll(() => rig.close());

test('two workers run each trial once', async () => {
  const model = await rig.model({
    model: 'scripted-1',
    delay_ms: 40,
    rules: [
      { ...JUDGE, allow_repeat: false },
      { ...ECHO, allow_repeat: false },
    ],
  });
  const row = await rig.evaluate(model, {
    cases: judgedCases(50),
    suite: { concurrency: 16, judge: { dimensions: ['task_completion'] } },
  });
  expect(row).toMatchObject({ status: 'completed', exit_code: 0 });
  expect(await trialsByStatus(rig.db, row.id)).toEqual({ passed: 50 });
  expect(model.stats()).toMatchObject({ calls: 100, repeated: 0 });
  const workers = await rig.db
    .selectFrom('trial')
    .select('worker')
    .distinct()
    .where('evaluation_id', '=', row.id)
    .execute();
  expect(workers).toHaveLength(2);
});

test('after a cancel and a resume both workers work again', async () => {
  const model = await rig.model({ ...ECHO_SCRIPT, delay_ms: 150 });
  const id = await rig.run(model, { cases: echoCases(80), suite: { concurrency: 16 } });
  await eventually('trials', async () => (await countEnded(rig.db, id)) >= 16);
  await rig.client.workflow.getHandle(workflowIdOf(id)).cancel();
  await notifyCancel(rig.db, id);
  expect(await rig.ended(id)).toMatchObject({ status: 'canceled' });
  await rig.resume(id);
  expect(await rig.ended(id)).toMatchObject({ status: 'completed', exit_code: 0 });
  expect(await trialsByStatus(rig.db, id)).toEqual({ passed: 80 });
});

test('a worker that is stopped hands its trials on: none is lost, none counts as a death', async () => {
  const model = await rig.model({ ...ECHO_SCRIPT, delay_ms: 300 });
  const id = await rig.run(model, { cases: echoCases(60), suite: { concurrency: 16 } });
  await eventually('trials', async () => (await countEnded(rig.db, id)) >= 10);
  await second.stop();
  expect(await rig.ended(id)).toMatchObject({ status: 'completed', exit_code: 0 });
  const trials = await loadTrials(rig.db, id);
  expect(trials.map(({ status, deaths }) => ({ status, deaths }))).toEqual(
    trials.map(() => ({ status: 'passed', deaths: 0 })),
  );
  expect(trials).toHaveLength(60);
});
