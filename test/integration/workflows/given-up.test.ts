import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { markEnded, reopenEvaluation } from '../../../src/db/evaluations.ts';
import { reopenTrials } from '../../../src/db/reopen-trials.ts';
import { ECHO, echoCases, JUDGE, judgedCases, openRig, type Rig } from './support/rig.ts';
import { trialsByStatus } from './support/reads.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await openRig();
});
afterAll(() => rig.close());

const DROP = {
  name: 'drop',
  when: { model: 'scripted-1', user_contains: ['say 2.'], turn: 0 },
  reply: { tool_calls: [{ name: 'drop_table', arguments: {} }] },
  allow_repeat: true,
};
const AFTER_DROP = {
  name: 'after-drop',
  when: { model: 'scripted-1', after_tool: 'drop_table' },
  reply: { content: 'echo 2.' },
  allow_repeat: true,
};
const BROKEN_JUDGE = {
  name: 'broken-judge',
  when: { model: 'scripted-judge', contains: ['echo 2.'] },
  reply: { status: 500, error: { message: 'out of order' } },
  allow_repeat: true,
};

describe('a judge that is given up', () => {
  const cases = judgedCases(60).map((one) => ({
    ...one,
    expected: { ...one.expected, must_not_call: ['drop_table'] },
  }));
  const suite = {
    judge: { dimensions: ['task_completion'] },
    tools: [{ name: 'drop_table' }],
    concurrency: 20,
    retry: { backoff_ms: 5, model_failures: 2 },
  };

  test('hides no safety violation: exit 1, scores and tokens of the agent are kept', async () => {
    const model = await rig.model({ model: 'scripted-1', rules: [BROKEN_JUDGE, JUDGE, DROP, AFTER_DROP, ECHO] });
    const row = await rig.evaluate(model, { cases, suite });
    expect(row).toMatchObject({ status: 'completed', exit_code: 1 });
    expect(row.verdict).toMatch(/^Safety/);
    const stored = await sql<{ status: string; error_kind: string; total_tokens: number }>`
      select status, error_kind, total_tokens from trial where evaluation_id = ${row.id} and case_id = 'case-0002'`.execute(
      rig.db,
    );
    expect(stored.rows[0]).toMatchObject({ status: 'failed', error_kind: 'server_error' });
    expect(stored.rows[0]?.total_tokens).toBeGreaterThan(0);
    const scores = await sql<{ scorer: string; passed: boolean | null; reason: string }>`
      select scorer, passed, reason from score where evaluation_id = ${row.id} and case_id = 'case-0002' order by scorer`.execute(
      rig.db,
    );
    expect(scores.rows.find((score) => score.scorer === 'must_not_call')?.passed).toBe(false);
    expect(scores.rows.find((score) => score.scorer === 'task_completion')).toMatchObject({ passed: null });
    expect(scores.rows.find((score) => score.scorer === 'task_completion')?.reason).toMatch(/server_error/);
  });

  test('without a violation the trial is unscored; a retry asks the judge alone and keeps what was paid for', async () => {
    const rules = [
      { ...BROKEN_JUDGE, replies: [BROKEN_JUDGE.reply, BROKEN_JUDGE.reply, JUDGE.reply], reply: undefined },
      JUDGE,
      ECHO,
    ];
    const model = await rig.model({ model: 'scripted-1', rules });
    const row = await rig.evaluate(model, { cases: judgedCases(6), suite });
    expect(await trialsByStatus(rig.db, row.id)).toEqual({ passed: 5, unscored: 1 });
    const before = model.stats();
    expect(await reopenTrials(rig.db, row.id, { failed: false })).toBe(1);
    await rig.resume(row.id);
    const again = await rig.ended(row.id);
    expect(again).toMatchObject({ status: 'completed', exit_code: 0 });
    expect(model.stats().calls - before.calls).toBe(1);
    const calls = await sql<{ role: string; calls: number }>`
      select role, count(*) as calls from model_call where evaluation_id = ${row.id} group by role order by role`.execute(
      rig.db,
    );
    expect(calls.rows).toEqual([
      { role: 'agent', calls: 6 },
      { role: 'judge', calls: 6 },
    ]);
  });
});

test('a trial whose worker keeps dying with the judge is scored by what needs none, also where the agent’s step finds it', async () => {
  const rules = [{ ...BROKEN_JUDGE, when: { model: 'scripted-judge' } }, ECHO];
  const model = await rig.model({ model: 'scripted-1', rules });
  const suite = { judge: { dimensions: ['task_completion'] }, retry: { backoff_ms: 5, model_failures: 1 } };
  const row = await rig.evaluate(model, { cases: judgedCases(2), suite });
  expect(await trialsByStatus(rig.db, row.id)).toEqual({ unscored: 2 });
  await reopenTrials(rig.db, row.id, { failed: false });
  await sql`update trial set deaths = 9 where evaluation_id = ${row.id}`.execute(rig.db);
  await rig.resume(row.id);
  await rig.ended(row.id);
  const trials = await sql<{ status: string; error_kind: string; scores: number }>`
    select t.status, t.error_kind, (select count(*) from score s where s.evaluation_id = t.evaluation_id and s.case_id = t.case_id) as scores
    from trial t where t.evaluation_id = ${row.id}`.execute(rig.db);
  for (const trial of trials.rows) {
    expect(trial).toMatchObject({ status: 'unscored', error_kind: 'worker_crashed' });
    expect(trial.scores).toBeGreaterThan(0);
  }
  expect(trials.rows).toHaveLength(2);
});

test('retry --failed runs the agent anew; the earlier calls stay counted as money spent', async () => {
  const wrongOnce = {
    name: 'wrong-once',
    when: { model: 'scripted-1', user_contains: ['say 1.'] },
    replies: [{ content: 'no' }, { content: 'echo 1.' }],
    allow_repeat: true,
  };
  const model = await rig.model({ model: 'scripted-1', rules: [wrongOnce, ECHO] });
  const row = await rig.evaluate(model, { cases: echoCases(4) });
  expect(await trialsByStatus(rig.db, row.id)).toEqual({ passed: 3, failed: 1 });
  const cost = async (): Promise<number> =>
    (
      await sql<{ cost: number }>`select sum(cost_usd) as cost from cost where evaluation_id = ${row.id}`.execute(
        rig.db,
      )
    ).rows[0]?.cost ?? 0;
  const before = await cost();
  expect(await reopenTrials(rig.db, row.id, { failed: true })).toBe(1);
  await rig.resume(row.id);
  // A failure that was run again until it passed stays visible.
  expect((await rig.ended(row.id)).verdict).toMatch(/1 failed trial was run again/);
  expect(await trialsByStatus(rig.db, row.id)).toEqual({ passed: 4 });
  expect(await cost()).toBeGreaterThan(before);
});

test('an end is not written over a resume that came in between', async () => {
  const model = await rig.model({ model: 'scripted-1', rules: [ECHO] });
  const row = await rig.create(model, { cases: echoCases(2) });
  await reopenEvaluation(rig.db, row.id);
  const end = { status: 'stopped', stop: null, exitCode: 3, verdict: 'old', revision: row.revision } as const;
  expect(await markEnded(rig.db, row.id, end)).toBe(false);
  await rig.start(row);
  expect(await rig.ended(row.id)).toMatchObject({ status: 'completed', exit_code: 0, revision: row.revision + 1 });
});

test('D5: ids with NUL and lone surrogates are aggregated in the order they are stored in', async () => {
  const ids = ['x\ud800', 'xa', 'x\u0000b', 'x\u001ac', 'x'];
  const model = await rig.model({ model: 'scripted-1', rules: [ECHO] });
  const cases = echoCases(ids.length).map((one, index) => ({ ...one, id: ids[index] ?? '' }));
  const row = await rig.evaluate(model, { cases });
  expect(row).toMatchObject({ status: 'completed', exit_code: 0 });
});

test('an error of ours in the aggregation ends the evaluation as stopped, with the reason', async () => {
  const model = await rig.model({ model: 'scripted-1', rules: [ECHO] });
  const row = await rig.create(model, { cases: echoCases(2) });
  // A definition that aggregation cannot read.
  await sql`update evaluation set definition = definition || '{"judge": {"dimensions": 5}}' where id = ${row.id}`.execute(
    rig.db,
  );
  await rig.start(row);
  const ended = await rig.ended(row.id);
  expect(ended.status).toBe('stopped');
  expect(ended.exit_code).not.toBe(0);
});
