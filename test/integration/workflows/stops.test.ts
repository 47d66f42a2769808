import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ECHO, ECHO_SCRIPT, echoCases, JUDGE, judgedCases, openRig, type Rig } from './support/rig.ts';
import { loadTrials, trialsByStatus } from './support/reads.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await openRig();
});
afterAll(() => rig.close());

const refusing = (reply: object): object => ({ model: 'scripted-1', rules: [{ when: {}, reply, allow_repeat: true }] });

describe('what every trial would meet stops the evaluation', () => {
  test('R5: 429 with insufficient_quota is no rate limit: it stops early and names the cause', async () => {
    const model = await rig.model(
      refusing({
        status: 429,
        headers: { 'retry-after': '1' },
        error: { code: 'insufficient_quota', message: 'You exceeded your current quota' },
      }),
    );
    const row = await rig.evaluate(model, { cases: echoCases(30), suite: { concurrency: 10 } });
    expect(row).toMatchObject({ status: 'stopped', stop_kind: 'quota', exit_code: 4 });
    expect(row.stop_message).toMatch(/You exceeded your current quota/);
    expect(model.stats().calls).toBe(1);
    expect(await trialsByStatus(rig.db, row.id)).not.toHaveProperty('errored');
  });

  test.each([
    [401, { code: 'invalid_api_key', message: 'Incorrect API key provided' }, 'unauthorized'],
    [403, { code: 'forbidden', message: 'Country not supported' }, 'forbidden'],
    [404, { code: 'model_not_found', message: 'The model scripted-1 does not exist' }, 'model_not_found'],
  ])('R8: %i costs one call, then one message and exit code 4', async (status, error, kind) => {
    const model = await rig.model(refusing({ status, error }));
    const row = await rig.evaluate(model, { cases: echoCases(40), suite: { concurrency: 20 } });
    expect(row).toMatchObject({ status: 'stopped', stop_kind: kind, exit_code: 4 });
    expect(row.stop_message).toContain(error.message);
    expect(row.verdict).toContain(error.message);
    expect(model.stats().calls).toBe(1);
  });

  test('R8: a judge that is refused stops it too, and what the agents did is kept', async () => {
    const refused = { status: 401, error: { code: 'invalid_api_key', message: 'no such key' } };
    const model = await rig.model({ model: 'scripted-1', rules: [{ ...JUDGE, reply: refused }, ECHO] });
    const row = await rig.evaluate(model, { cases: judgedCases(10), suite: { judge: {}, concurrency: 5 } });
    expect(row).toMatchObject({ status: 'stopped', stop_kind: 'unauthorized', exit_code: 4 });
    expect(model.stats().byRule['judge']).toBe(1);
  });

  test('R12: all trials errored is exit code 3, never 0', async () => {
    const model = await rig.model(refusing({ status: 500, error: { message: 'out of order' } }));
    const row = await rig.evaluate(model, {
      cases: echoCases(4),
      suite: { retry: { backoff_ms: 5, model_failures: 2 } },
    });
    expect(row).toMatchObject({ status: 'completed', exit_code: 3 });
    expect(await trialsByStatus(rig.db, row.id)).toEqual({ errored: 4 });
    expect(model.stats().calls).toBe(8);
  });

  test('R12: no case with a verdict is exit code 3, never 0', async () => {
    const model = await rig.model({
      model: 'scripted-1',
      rules: [{ ...JUDGE, reply: { content: 'I would say it is fine' } }, ECHO],
    });
    const row = await rig.evaluate(model, {
      cases: judgedCases(3),
      suite: { judge: { dimensions: ['task_completion'] }, gates_off: ['unscored_share'] },
    });
    expect(row).toMatchObject({ status: 'completed', exit_code: 3 });
    expect(await trialsByStatus(rig.db, row.id)).toEqual({ unscored: 3 });
  });

  test('fail-fast: the first failure stops the evaluation', async () => {
    const wrong = { when: { user_contains: ['say 2.'] }, reply: { content: 'no' }, allow_repeat: true };
    const model = await rig.model({ model: 'scripted-1', delay_ms: 20, rules: [wrong, ECHO] });
    const row = await rig.evaluate(model, {
      cases: echoCases(60),
      suite: { concurrency: 2 },
      options: { failFast: true },
    });
    expect(row).toMatchObject({ status: 'stopped', stop_kind: 'fail_fast' });
    expect(row.exit_code).toBe(1);
    expect(row.stop_message).toMatch(/case-0002 trial 1 failed/);
    expect(model.stats().calls).toBeLessThan(20);
    const failed = (await loadTrials(rig.db, row.id)).filter((trial) => trial.status === 'failed');
    expect(failed.map((trial) => trial.case_id)).toEqual(['case-0002']);
  });

  test('an endpoint nobody listens at stops it with exit code 4; a resume finishes it', async () => {
    const gone = await rig.model(ECHO_SCRIPT);
    await gone.close();
    const row = await rig.evaluate(gone, { cases: echoCases(10) });
    expect(row).toMatchObject({ status: 'stopped', stop_kind: 'endpoint_unreachable', exit_code: 4 });
    expect(await trialsByStatus(rig.db, row.id)).not.toHaveProperty('errored');
    const back = await rig.model(ECHO_SCRIPT, { port: gone.port });
    await rig.resume(row.id);
    expect(await rig.ended(row.id)).toMatchObject({ status: 'completed', exit_code: 0, stop_kind: null });
    expect(back.stats().calls).toBe(10);
  });

  test('a budget that is spent stops it; with a larger one the rest is run', async () => {
    const priced = { ...ECHO, reply: { ...ECHO.reply, usage: { input: 500_000, output: 250_000 } } };
    const model = await rig.model({ model: 'scripted-1', delay_ms: 50, rules: [priced] });
    const cases = echoCases(40);
    const row = await rig.evaluate(model, { cases, suite: { concurrency: 1 }, options: { budgetUsd: 5 } });
    expect(row).toMatchObject({ status: 'stopped', stop_kind: 'budget', exit_code: 3 });
    const before = model.stats().calls;
    // Spent money is looked up once a second: what went out meanwhile is paid.
    expect(before).toBeGreaterThanOrEqual(5);
    expect(before).toBeLessThan(40);
    await rig.resume(row.id, { budgetUsd: 100, concurrency: 20 });
    expect(await rig.ended(row.id)).toMatchObject({ status: 'completed', stop_kind: null });
    expect(model.stats().calls).toBe(40);
    expect(await trialsByStatus(rig.db, row.id)).toEqual({ passed: 40 });
  });
});
