import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadEvaluationResult, loadGates } from '../../../src/db/results.ts';
import { ECHO, echoCases, judgedCases, JUDGE, openRig, type Rig } from './support/rig.ts';
import { loadTrials, trialsByStatus } from './support/reads.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await openRig();
});
afterAll(() => rig.close());

const priced = (rule: { reply: object }, input: number, output: number): object => ({
  ...rule,
  reply: { ...rule.reply, usage: { input, output } },
});

test('R11: three judge calls a case: totals equal the endpoint’s own sum, agent and judge apart', async () => {
  const quality = {
    name: 'quality',
    when: { model: 'scripted-judge', contains: 'quality' },
    reply: { json: { score: 5, reason: 'good' } },
    allow_repeat: true,
  };
  const repaired = {
    name: 'task',
    when: { model: 'scripted-judge' },
    // The first reply has no verdict, so that each case costs three calls: two here, one for quality.
    replies: [
      { content: 'it is fine', usage: { input: 30, output: 5 } },
      { json: { result: 'success', reason: 'fine' }, usage: { input: 40, output: 6 } },
    ],
    allow_repeat: true,
  };
  const model = await rig.model({ model: 'scripted-1', rules: [priced(ECHO, 100, 10)] });
  const judge = await rig.model({ model: 'scripted-judge', rules: [priced(quality, 50, 7), repaired] });
  const row = await rig.evaluate(model, {
    cases: judgedCases(6),
    suite: { trials: 2, judge: { base_url: judge.url } },
  });
  expect(row.status).toBe('completed');
  const stored = (await loadEvaluationResult(rig.db, row.id))?.result;
  const agentTokens = model.stats().tokens;
  const judgeTokens = judge.stats().tokens;
  expect(agentTokens.total).toBe(12 * 110);
  expect(judge.stats().calls).toBeGreaterThanOrEqual(24);
  expect(stored?.tokens).toEqual({ agent: agentTokens.total, judge: judgeTokens.total });
  expect(stored?.cost_usd.agent).toBeCloseTo((agentTokens.input * 1 + agentTokens.output * 2) / 1e6, 12);
  expect(stored?.cost_usd.judge).toBeCloseTo((judgeTokens.input * 1 + judgeTokens.output * 2) / 1e6, 12);
  // The journal and its view say the same.
  const cost = await sql<{ role: string; calls: number; total_tokens: number }>`
    select role, sum(calls) as calls, sum(total_tokens) as total_tokens from cost where evaluation_id = ${row.id} group by role order by role`.execute(
    rig.db,
  );
  expect(cost.rows).toEqual([
    { role: 'agent', calls: model.stats().calls, total_tokens: agentTokens.total },
    { role: 'judge', calls: judge.stats().calls, total_tokens: judgeTokens.total },
  ]);
});

test('R2, R11: a retried trial replays what was paid for: no call twice, totals as without the retry', async () => {
  const tool = { name: 'get_order', description: 'Looks an order up.', parameters: { type: 'object', properties: {} } };
  const rules = [
    {
      name: 'call',
      when: { turn: 0 },
      reply: { tool_calls: [{ name: 'get_order', arguments: {} }], usage: { input: 10, output: 1 } },
    },
    // The second call of each trial fails once.
    {
      name: 'answer',
      when: { after_tool: 'get_order' },
      replies: [{ status: 503 }, { content: 'done', usage: { input: 20, output: 2 } }],
      allow_repeat: true,
    },
  ];
  const model = await rig.model({ model: 'scripted-1', rules });
  const mock = { tools: [{ tool: 'get_order', replies: [{ result: 'shipped' }] }] };
  const row = await rig.evaluate(model, {
    cases: echoCases(5, { expected: { answer_contains: ['done'] }, mock }),
    suite: { tools: [tool] },
  });
  expect(await trialsByStatus(rig.db, row.id)).toEqual({ passed: 5 });
  expect(model.stats()).toMatchObject({ byRule: { call: 5, answer: 10 }, repeated: 0 });
  expect((await loadEvaluationResult(rig.db, row.id))?.result.tokens).toEqual({
    agent: model.stats().tokens.total,
    judge: 0,
  });
});

test('J9: 4 of 10 cases judged: the mean says so, the gate is inconclusive, the evaluation is not green', async () => {
  const broken = {
    ...JUDGE,
    name: 'broken',
    when: { model: 'scripted-judge', contains: 'echo ' },
    reply: { content: 'no verdict' },
  };
  const good = [0, 1, 2, 3].map((index) => ({
    ...JUDGE,
    name: `good-${index}`,
    when: { model: 'scripted-judge', contains: `say ${index}.` },
  }));
  const model = await rig.model({ model: 'scripted-1', rules: [...good, broken, ECHO] });
  const row = await rig.evaluate(model, {
    cases: judgedCases(10),
    suite: { judge: { dimensions: ['task_completion'] } },
  });
  expect(row).toMatchObject({ status: 'completed', exit_code: 3 });
  expect(await trialsByStatus(rig.db, row.id)).toEqual({ passed: 4, unscored: 6 });
  const metric = (await loadEvaluationResult(rig.db, row.id))?.result.metrics.find(
    (one) => one.metric === 'completion_rate',
  );
  expect(metric).toMatchObject({ value: 1, trials: 4, trials_applicable: 10 });
  const gate = (await loadGates(rig.db, row.id)).find((one) => one.gate === 'completion_rate');
  expect(gate?.verdict).toBe('inconclusive');
});

test('J11: a judge reply without usage is scored; its tokens and cost are unknown, the cost gate inconclusive', async () => {
  const silent = { ...JUDGE, reply: { ...JUDGE.reply, usage: null } };
  const model = await rig.model({ model: 'scripted-1', rules: [silent, priced(ECHO, 10, 1)] });
  const row = await rig.evaluate(model, {
    cases: judgedCases(3),
    suite: { judge: { dimensions: ['task_completion'] }, gates: [{ name: 'cost', metric: 'cost_usd', max: 1 }] },
  });
  expect(await trialsByStatus(rig.db, row.id)).toEqual({ passed: 3 });
  for (const trial of await loadTrials(rig.db, row.id))
    expect(trial).toMatchObject({ total_tokens: 11, judge_tokens: null, judge_cost_usd: null });
  const stored = (await loadEvaluationResult(rig.db, row.id))?.result;
  expect(stored?.tokens).toEqual({ agent: 33, judge: null });
  const gate = (await loadGates(rig.db, row.id)).find((one) => one.gate === 'cost');
  expect(gate).toMatchObject({ verdict: 'inconclusive', got: null });
  expect(row.exit_code).toBe(3);
});
