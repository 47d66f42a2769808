import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadFailingTrials } from '../../../src/db/failing-trials.ts';
import { eventually } from '../../e2e/support/program.ts';
import { ECHO, ECHO_SCRIPT, echoCases, JUDGE, judgedCases, openRig, type Rig, type TestModel } from './support/rig.ts';
import { countEnded, loadTrials, trialsByStatus } from './support/reads.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await openRig();
});
afterAll(() => rig.close());

/** A rate limit for the first call of every request, then the answer. */
const limitedOnce = (headers: Record<string, string>): object => ({
  model: 'scripted-1',
  rules: [
    {
      when: { user_matches: 'say (\\d+)\\.' },
      replies: [{ status: 429, headers, error: { code: 'rate_limit_exceeded', message: 'slow down' } }, ECHO.reply],
      allow_repeat: true,
    },
  ],
});

/** Milliseconds between the two calls of the only trial. */
async function gap(model: TestModel, suite: object = {}): Promise<number> {
  const row = await rig.evaluate(model, { cases: echoCases(1), suite: { ...suite } });
  expect(await trialsByStatus(rig.db, row.id)).toEqual({ passed: 1 });
  expect(model.stats().calls).toBe(2);
  const [first = 0, second = 0] = model.sentAt;
  return second - first;
}

test('what a trial under way met is known while it waits, and is no part of it once it has ended', async () => {
  const model = await rig.model(limitedOnce({ 'retry-after': '3' }));
  const id = await rig.run(model, { cases: echoCases(2), suite: {} });
  const both = async (): Promise<boolean> => (await loadFailingTrials(rig.db, id))[0]?.trials === 2;
  await eventually('both wait', both);
  expect(await loadFailingTrials(rig.db, id)).toEqual([
    { kind: 'rate_limit', trials: 2, message: expect.stringContaining('slow down') as string },
  ]);
  expect((await rig.ended(id)).status).toBe('completed');
  expect(await loadFailingTrials(rig.db, id)).toEqual([]);
});

describe('R6: Retry-After', () => {
  test.concurrent.each([
    ['seconds', { 'retry-after': '2' }, 2_000, 3_500],
    ['milliseconds', { 'retry-after-ms': '500' }, 500, 1_900],
    ['a number without sense', { 'retry-after': '-1' }, 0, 1_500],
    ['words', { 'retry-after': 'soon' }, 0, 1_500],
  ])('R6: %s', async (_, headers, least, most) => {
    const model = await rig.model(limitedOnce(headers));
    const waited = await gap(model);
    expect(waited).toBeGreaterThanOrEqual(least);
    expect(waited).toBeLessThan(most);
  });

  test.concurrent('R6: an HTTP date', async () => {
    // Dates have whole seconds.
    const at = Math.ceil(Date.now() / 1_000 + 8) * 1_000;
    const model = await rig.model(limitedOnce({ 'retry-after': new Date(at).toUTCString() }));
    await gap(model);
    const [first = 0, second = 0] = model.sentAt;
    expect(first).toBeLessThan(at - 500);
    expect(second).toBeGreaterThanOrEqual(at - 50);
    expect(second).toBeLessThan(at + 2_000);
  });

  test('R6: 3600 is capped by policy and holds no slot of the worker', async () => {
    const narrow = await openRig({ env: { ASSAY_MAX_ACTIVITIES: '1' } });
    try {
      const limited = limitedOnce({ 'retry-after': '3600' }) as { rules: { when: object }[] };
      const first = { ...limited.rules[0], when: { user_matches: 'say (0)\\.' } };
      const model = await narrow.model({ model: 'scripted-1', rules: [first, ECHO] });
      const row = await narrow.evaluate(model, {
        cases: echoCases(6),
        suite: { concurrency: 2, retry: { backoff_ms: 20, max_retry_after_ms: 2_500 } },
      });
      expect(await trialsByStatus(narrow.db, row.id)).toEqual({ passed: 6 });
      // One slot, one trial waiting for 2.5 s: the five others ran meanwhile, and the limited one came last.
      expect(model.sentAt).toHaveLength(7);
      const wait = (model.sentAt[6] ?? 0) - (model.sentAt[0] ?? 0);
      expect(wait).toBeGreaterThanOrEqual(2_400);
      expect((model.sentAt[5] ?? 0) - (model.sentAt[0] ?? 0)).toBeLessThan(2_000);
    } finally {
      await narrow.close();
    }
  });
});

test('R7: every call 500 for one case: only that case is errored', async () => {
  const broken = {
    when: { user_contains: ['say 3.'] },
    reply: { status: 500, error: { message: 'boom' } },
    allow_repeat: true,
  };
  const model = await rig.model({ model: 'scripted-1', rules: [broken, ECHO] });
  const row = await rig.evaluate(model, {
    cases: echoCases(8),
    suite: { trials: 2, retry: { backoff_ms: 5, model_failures: 3 } },
  });
  expect(row.status).toBe('completed');
  const errored = (await loadTrials(rig.db, row.id)).filter((trial) => trial.status !== 'passed');
  expect(errored).toMatchObject([
    { case_id: 'case-0003', trial_index: 1, status: 'errored', error_kind: 'server_error', model_failures: 3 },
    { case_id: 'case-0003', trial_index: 2, status: 'errored', error_kind: 'server_error', model_failures: 3 },
  ]);
  expect(errored[0]?.error_message).toMatch(/boom/);
  expect(model.stats().calls).toBe(14 + 6);
});

describe('R9: the request is too long, or refused for its content', () => {
  test.each([
    ['context_length_exceeded', "This model's maximum context length is 8192 tokens"],
    ['content_filter', 'The response was filtered by the content policy'],
  ])('R9: agent: %s ends the trial as FAILED without a retry, scored', async (code, message) => {
    const refused = {
      when: { user_contains: ['say 1.'] },
      reply: { status: 400, error: { code, message } },
      allow_repeat: true,
    };
    const model = await rig.model({ model: 'scripted-1', rules: [refused, ECHO] });
    const row = await rig.evaluate(model, { cases: echoCases(3) });
    expect(row.status).toBe('completed');
    expect(model.stats().calls).toBe(3);
    expect(await loadTrials(rig.db, row.id)).toMatchObject([
      { status: 'passed' },
      { status: 'failed', final_status: 'FAILED', error_kind: null, model_failures: 0 },
      { status: 'passed' },
    ]);
  });

  test('R9: judge: unscored, without a retry', async () => {
    const refused = {
      ...JUDGE,
      reply: { status: 400, error: { code: 'context_length_exceeded', message: 'maximum context length' } },
    };
    const model = await rig.model({ model: 'scripted-1', rules: [refused, ECHO] });
    const row = await rig.evaluate(model, {
      cases: judgedCases(1),
      suite: { judge: { dimensions: ['task_completion'] } },
    });
    expect(await loadTrials(rig.db, row.id)).toMatchObject([{ status: 'unscored', model_failures: 0 }]);
    expect(row.exit_code).toBe(3);
    expect(model.stats().byRule['judge']).toBe(1);
  });
});

test('an endpoint that drops every connection for a while costs no trial', async () => {
  const model = await rig.model({ ...ECHO_SCRIPT, delay_ms: 100 });
  const id = await rig.run(model, { cases: echoCases(60), suite: { concurrency: 6, retry: { backoff_ms: 400 } } });
  await eventually('some trials', async () => (await countEnded(rig.db, id)) >= 6);
  await model.control({ dropAll: true });
  const away = model.stats().calls;
  await eventually('calls that were dropped', () => Promise.resolve(model.stats().calls >= away + 8));
  await model.control({ dropAll: false });
  expect(await rig.ended(id)).toMatchObject({ status: 'completed', exit_code: 0 });
  expect(await trialsByStatus(rig.db, id)).toEqual({ passed: 60 });
});

test('an endpoint that goes away and comes back costs no trial, and not one counted failure', async () => {
  const model = await rig.model({ ...ECHO_SCRIPT, delay_ms: 100 });
  const id = await rig.run(model, {
    cases: echoCases(40),
    suite: { concurrency: 4, retry: { backoff_ms: 50, model_failures: 3 } },
  });
  await eventually('some trials', async () => (await countEnded(rig.db, id)) >= 4);
  await model.close();
  // Far more refusals than a trial's own failures would be allowed: at 50 ms a lane, two seconds hold dozens.
  const since = Date.now();
  await eventually('two seconds without an endpoint', () => Promise.resolve(Date.now() - since > 2_000));
  const back = await rig.model(ECHO_SCRIPT, { port: model.port });
  expect(await rig.ended(id)).toMatchObject({ status: 'completed', exit_code: 0 });
  expect(await trialsByStatus(rig.db, id)).toEqual({ passed: 40 });
  expect(back.stats().calls).toBeGreaterThan(0);
  // Calls cut in the middle count; being refused does not.
  for (const trial of await loadTrials(rig.db, id)) expect(trial.model_failures).toBeLessThanOrEqual(1);
});
