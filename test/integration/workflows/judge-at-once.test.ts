import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { workflowIdOf } from '../../../src/commands/run/start-evaluation.ts';
import { notifyCancel, setPaused } from '../../../src/db/evaluations.ts';
import type { RunningWorker } from '../../../src/worker.ts';
import { eventually } from '../../e2e/support/program.ts';
import { type CountingService, echo, startCountingService } from '../agents/counting-service.ts';
import { atRest } from './support/at-rest.ts';
import { countEnded, loadTrials, trialsByStatus } from './support/reads.ts';
import { JUDGE, judgedCases, openRig, type Rig, type TestModel } from './support/rig.ts';

const CASES = 6;
const allTrials = (like: object): object[] => Array.from({ length: CASES }, () => like);

describe.each([
  ['one queue: the judge follows in the activity of the agent', {}],
  ['a queue for the judge', { ASSAY_JUDGE_TASK_QUEUE: 'judge-at-once-apart' }],
])('%s', (_, env) => {
  let rig: Rig;
  let first: RunningWorker;
  let agent: CountingService;
  beforeAll(async () => {
    rig = await openRig({ env, workers: 0 });
    first = await rig.worker();
  });
  afterAll(() => rig.close());
  afterEach(() => agent.close());

  async function run(
    rules: object[],
    more: { delayMs?: number; control?: object; suite?: object; options?: object } = {},
  ): Promise<{ id: string; model: TestModel }> {
    agent = await startCountingService(echo);
    const model = await rig.model({ model: 'scripted-judge', delay_ms: more.delayMs ?? 0, rules });
    if (more.control !== undefined) await model.control(more.control);
    const id = await rig.run(model, {
      cases: judgedCases(CASES),
      suite: {
        agent: { type: 'http', url: agent.url },
        judge: { dimensions: ['task_completion'] },
        retry: { backoff_ms: 20, model_failures: 3 },
        concurrency: 2,
        ...more.suite,
      },
      options: { judgeCache: false, ...more.options },
    });
    return { id, model };
  }

  /** The agent's calls are in no journal: were a trial's agent run again, its service would see it. */
  const expectAskedOnce = (): void => {
    expect([...agent.requests.entries()].sort(([a], [b]) => a - b)).toEqual(
      Array.from({ length: CASES }, (_unused, n) => [n, 1]),
    );
  };

  /** Both lanes wait for the judge of their trial. */
  const judgesUnderWay = (model: TestModel): Promise<boolean> =>
    eventually('two judges under way', () => Promise.resolve(model.stats().inFlight === 2));

  const limited = { status: 429, headers: { 'retry-after-ms': '400' }, error: { code: 'rate_limit', message: 'slow' } };
  const LATE = 30_000;

  test('R6: a judge that is rate limited is waited for; the agent is not run again', async () => {
    const { id, model } = await run([{ when: JUDGE.when, replies: [limited, JUDGE.reply], allow_repeat: true }]);
    expect(await rig.ended(id)).toMatchObject({ status: 'completed', exit_code: 0 });
    expectAskedOnce();
    expect(model.stats().byStatus).toEqual({ '429': CASES, '200': CASES });
    expect(await loadTrials(rig.db, id)).toMatchObject(
      allTrials({ status: 'passed', rate_limits: 1, model_failures: 0, deaths: 0 }),
    );
    const [begun = 0] = model.sentAt;
    // Two lanes, six trials, each waited.
    expect((model.sentAt.at(-1) ?? 0) - begun).toBeGreaterThan(1_000);
  });

  test('R7: a judge that always fails is unscored; the agent is not run again', async () => {
    const { id, model } = await run([{ ...JUDGE, reply: { status: 500, error: { message: 'boom' } } }]);
    expect(await rig.ended(id)).toMatchObject({ status: 'completed', exit_code: 3 });
    expectAskedOnce();
    expect(model.stats().calls).toBe(CASES * 3);
    expect(await trialsByStatus(rig.db, id)).toEqual({ unscored: CASES });
  });

  test('R8: a key the judge refuses costs one call; after resume no agent is run a second time', async () => {
    const { id, model } = await run([JUDGE], { control: { failStatus: 401 } });
    expect(await rig.ended(id)).toMatchObject({ status: 'stopped', stop_kind: 'unauthorized', exit_code: 4 });
    expect(model.stats().calls).toBe(1);
    await model.control({ failStatus: null });
    await rig.resume(id);
    expect(await rig.ended(id)).toMatchObject({ status: 'completed', exit_code: 0 });
    expectAskedOnce();
    expect(model.stats().calls).toBe(1 + CASES);
  });

  test('cancel ends the judges under way within a second; resume judges what is stored', async () => {
    const { id, model } = await run([JUDGE], { delayMs: LATE });
    await judgesUnderWay(model);
    const startedAt = performance.now();
    await rig.client.workflow.getHandle(workflowIdOf(id)).cancel();
    await notifyCancel(rig.db, id);
    await eventually('both closed', () => Promise.resolve(model.stats().inFlight === 0));
    expect(performance.now() - startedAt).toBeLessThan(1_500);
    expect(await rig.ended(id)).toMatchObject({ status: 'canceled' });
    await model.control({ delayMs: 0 });
    await rig.resume(id);
    expect(await rig.ended(id)).toMatchObject({ status: 'completed', exit_code: 0 });
    expectAskedOnce();
    expect(await loadTrials(rig.db, id)).toMatchObject(allTrials({ status: 'passed', deaths: 0 }));
  });

  test('pause: the trials under way are judged, no further agent is run', async () => {
    const { id, model } = await run([JUDGE], { delayMs: 400 });
    await judgesUnderWay(model);
    await setPaused(rig.db, id, true);
    await rig.client.workflow.getHandle(workflowIdOf(id)).signal('pause', true);
    await eventually('rest', () => atRest(rig.client, id));
    const asked = agent.requests.size;
    await sleep(600);
    expect([await countEnded(rig.db, id), agent.requests.size]).toEqual([asked, asked]);
    expect(asked).toBeLessThan(CASES);
    await setPaused(rig.db, id, false);
    await rig.client.workflow.getHandle(workflowIdOf(id)).signal('pause', false);
    expect(await rig.ended(id)).toMatchObject({ status: 'completed', exit_code: 0 });
    expectAskedOnce();
  });

  test('a budget that is spent stops before the next judge; resume with more judges what is stored', async () => {
    const prices = { 'scripted-judge': { input: 1_000_000, output: 0 } };
    const { id } = await run([JUDGE], {
      delayMs: 500,
      suite: { prices, budget_usd: 0.5, concurrency: 1, gates_off: ['case_pass_rate'] },
    });
    expect(await rig.ended(id)).toMatchObject({ status: 'stopped', stop_kind: 'budget' });
    expect(await countEnded(rig.db, id)).toBeLessThan(CASES);
    await rig.resume(id, { budgetUsd: 1e9 });
    expect(await rig.ended(id)).toMatchObject({ status: 'completed' });
    expectAskedOnce();
    expect(await trialsByStatus(rig.db, id)).toEqual({ passed: CASES });
  });

  test('--fail-fast: a trial the judge fails stops the evaluation, and names it', async () => {
    const failure = { json: { result: 'failure', reason: 'it is rude' } };
    const { id } = await run([{ when: { user_matches: 'echo 1' }, reply: failure }, JUDGE], {
      options: { failFast: true },
      suite: { concurrency: 1 },
    });
    const row = await rig.ended(id);
    expect(row).toMatchObject({ status: 'stopped', stop_kind: 'fail_fast' });
    expect(row.stop_message).toContain('it is rude');
    expect(agent.requests.size).toBe(2);
  });

  test('a worker that leaves while it judges hands the trial on; the agent is not run again', async () => {
    const { id, model } = await run([JUDGE], { delayMs: LATE });
    await judgesUnderWay(model);
    await model.control({ delayMs: 0 });
    await rig.worker();
    await first.stop();
    expect(await rig.ended(id)).toMatchObject({ status: 'completed', exit_code: 0 });
    expectAskedOnce();
    expect(await loadTrials(rig.db, id)).toMatchObject(allTrials({ status: 'passed', deaths: 0 }));
  });
});
