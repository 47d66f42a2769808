import { afterAll, beforeAll, expect, test } from 'vitest';
import { workflowIdOf } from '../../../src/commands/run/start-evaluation.ts';
import { setPaused } from '../../../src/db/evaluations.ts';
import { eventually } from '../../e2e/support/program.ts';
import { ECHO_SCRIPT, echoCases, openRig, type Rig } from './support/rig.ts';
import { type OwnTemporal, startOwnTemporal } from './support/own-temporal.ts';
import { atRest } from './support/at-rest.ts';
import { countEnded, trialsByStatus } from './support/reads.ts';

let temporal: OwnTemporal;
let rig: Rig;
beforeAll(async () => {
  temporal = await startOwnTemporal({ 'limit.historyCount.suggestContinueAsNew': '60' });
  rig = await openRig({ temporalAddress: temporal.address, env: { ASSAY_SHARD_SIZE: '12', ASSAY_SHARD_WINDOW: '2' } });
});
afterAll(async () => {
  await rig.close();
  await temporal.stop();
});

/** How the runs of a workflow ended, oldest first. */
async function runsOf(workflowId: string): Promise<string[]> {
  const runs: { at: number; status: string }[] = [];
  for await (const one of rig.client.workflow.list({ query: `WorkflowId = "${workflowId}"` })) {
    runs.push({ at: one.startTime.getTime(), status: one.status.name });
  }
  return runs.sort((a, b) => a.at - b.at).map((run) => run.status);
}

test('a long evaluation goes on as new, with its shards drained first: each trial once, histories short', async () => {
  const model = await rig.model(ECHO_SCRIPT);
  const row = await rig.evaluate(model, { cases: echoCases(130), suite: { concurrency: 8 } });
  expect(row).toMatchObject({ status: 'completed', exit_code: 0 });
  expect(await trialsByStatus(rig.db, row.id)).toEqual({ passed: 130 });
  expect(model.stats().calls).toBe(130);
  const runs = await eventually('the runs in the visibility store', async () => {
    const statuses = await runsOf(workflowIdOf(row.id));
    return statuses.at(-1) === 'COMPLETED' ? statuses : null;
  });
  expect(runs.length).toBeGreaterThan(1);
  expect(runs.slice(0, -1).every((status) => status === 'CONTINUED_AS_NEW')).toBe(true);
  const shard = await eventually('the runs of a shard', async () => {
    const statuses = await runsOf(`${workflowIdOf(row.id)}/shard/0`);
    return statuses.at(-1) === 'COMPLETED' ? statuses : null;
  });
  expect(shard).toEqual(['CONTINUED_AS_NEW', 'COMPLETED']);
});

test('pause and unpause of an evaluation that goes on as new', async () => {
  const model = await rig.model({ ...ECHO_SCRIPT, delay_ms: 20 });
  const id = await rig.run(model, { cases: echoCases(120), suite: { concurrency: 4 } });
  const handle = rig.client.workflow.getHandle(workflowIdOf(id));
  await eventually('trials', async () => (await countEnded(rig.db, id)) >= 50);
  await setPaused(rig.db, id, true);
  await handle.signal('pause', true);
  await eventually('rest', () => atRest(rig.client, id));
  await setPaused(rig.db, id, false);
  await handle.signal('pause', false);
  expect(await rig.ended(id)).toMatchObject({ status: 'completed', exit_code: 0 });
  expect(model.stats().calls).toBe(120);
});
