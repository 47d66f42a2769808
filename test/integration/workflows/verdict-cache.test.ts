import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadEvaluationResult } from '../../../src/db/results.ts';
import { deleteEndedEvaluation } from '../../../src/db/evaluations.ts';
import { ECHO, ECHO_SCRIPT, JUDGE, judgedCases, openRig, type Rig } from './support/rig.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await openRig();
});
afterAll(() => rig.close());

interface Verdict {
  case_id: string;
  vote: number;
  round: number;
  /** The model asked for. */
  judge: string;
  value: number | null;
  cached_from: string | null;
}

const verdictsOf = async (id: string): Promise<Verdict[]> =>
  rig.db
    .selectFrom('judge_verdict')
    .select(['case_id', 'vote', 'round', sql<string>`params ->> 'model'`.as('judge'), 'value', 'cached_from'])
    .where('evaluation_id', '=', id)
    .orderBy('case_id')
    .orderBy('vote')
    .execute();

async function judgeCalls(id: string): Promise<number> {
  const rows = await sql<{ calls: number }>`
    select count(*) as calls from model_call where evaluation_id = ${id} and role = 'judge'`.execute(rig.db);
  return rows.rows[0]?.calls ?? 0;
}

const judged = { judge: { dimensions: ['task_completion'] } };

describe('verdict cache', () => {
  test('the second evaluation pays for no verdict, says where they come from, and scores the same', async () => {
    const model = await rig.model(ECHO_SCRIPT);
    const parts = { cases: judgedCases(6), suite: judged };
    const first = await rig.evaluate(model, parts);
    const second = await rig.evaluate(model, parts);
    expect(await judgeCalls(first.id)).toBe(6);
    expect(await judgeCalls(second.id)).toBe(0);
    expect((await verdictsOf(first.id)).map((one) => one.cached_from)).toEqual(Array(6).fill(null));
    expect((await verdictsOf(second.id)).map((one) => one.cached_from)).toEqual(Array(6).fill(first.id));
    const [a, b] = [await loadEvaluationResult(rig.db, first.id), await loadEvaluationResult(rig.db, second.id)];
    expect(a?.result.tokens.judge).toBeGreaterThan(0);
    expect(b?.result.tokens.judge).toBe(0);
    expect(b?.result.cost_usd.judge).toBe(0);
    expect(b?.result.counts).toEqual(a?.result.counts);
    expect(second.exit_code).toBe(first.exit_code);
  });

  test('--no-judge-cache: every verdict is asked for, and none is kept', async () => {
    const model = await rig.model(ECHO_SCRIPT);
    const parts = { cases: judgedCases(3), suite: judged };
    await rig.evaluate(model, parts);
    const without = await rig.evaluate(model, { ...parts, options: { judgeCache: false } });
    expect(await judgeCalls(without.id)).toBe(3);
    const kept = await rig.db
      .selectFrom('verdict_cache')
      .select('key')
      .where('evaluation_id', '=', without.id)
      .execute();
    expect(kept).toEqual([]);
  });

  test('trials of a case are judged each for itself; deleting what paid for a verdict deletes it', async () => {
    const model = await rig.model(ECHO_SCRIPT);
    const parts = { cases: judgedCases(2), suite: { ...judged, trials: 3 } };
    const first = await rig.evaluate(model, parts);
    expect(await judgeCalls(first.id)).toBe(6);
    expect(await deleteEndedEvaluation(rig.db, first.id)).toBe(true);
    const again = await rig.evaluate(model, parts);
    expect(await judgeCalls(again.id)).toBe(6);
  });

  test('an unscored verdict is not kept: the next evaluation asks again', async () => {
    const bad = { ...JUDGE, reply: { content: 'I would rather not say' } };
    const model = await rig.model({ model: 'scripted-1', rules: [bad, ECHO] });
    const parts = { cases: judgedCases(1), suite: judged };
    const first = await rig.evaluate(model, parts);
    const second = await rig.evaluate(model, parts);
    expect(await judgeCalls(first.id)).toBe(2);
    expect(await judgeCalls(second.id)).toBe(2);
    expect(first.exit_code).toBe(3);
  });
});

describe('votes', () => {
  test('a panel of three: each vote a row with its model; calls, tokens and money are the sum of all', async () => {
    const says = (name: string, result: string): object => ({
      name,
      when: { model: name },
      reply: { json: { result, reason: `${name} says ${result}` } },
      allow_repeat: true,
    });
    const rules = [says('judge-a', 'success'), says('judge-b', 'failure'), says('judge-c', 'success'), ECHO];
    const model = await rig.model({ model: 'scripted-1', rules });
    const panel = ['judge-a', 'judge-b', 'judge-c'].map((name) => ({ model: name }));
    const prices = Object.fromEntries(
      ['scripted-1', ...panel.map((one) => one.model)].map((name) => [name, { input: 1, output: 2 }]),
    );
    const row = await rig.evaluate(model, {
      cases: judgedCases(2),
      suite: { judge: { ...judged.judge, model: 'judge-a', panel }, prices },
    });
    expect(row).toMatchObject({ exit_code: 0, judge_model: 'judge-a + judge-b + judge-c' });
    expect((await verdictsOf(row.id)).slice(0, 3)).toMatchObject([
      { vote: 0, judge: 'judge-a', value: 1 },
      { vote: 1, judge: 'judge-b', value: 0 },
      { vote: 2, judge: 'judge-c', value: 1 },
    ]);
    const score = await rig.db
      .selectFrom('score')
      .select(['value', 'passed', 'reason', 'details'])
      .where('evaluation_id', '=', row.id)
      .where('scorer', '=', 'task_completion')
      .executeTakeFirst();
    expect(score).toMatchObject({ value: 1, passed: true, details: { disagreement: 1 / 3, valid_votes: 3 } });
    expect(score?.reason).toBe('2 of 3 votes pass: judge-a says success; against it: judge-b: judge-b says failure');
    const spent = await sql<{ tokens: number; cost: number }>`
      select sum(total_tokens) as tokens, sum(cost_usd) as cost from model_call
      where evaluation_id = ${row.id} and role = 'judge'`.execute(rig.db);
    const result = await loadEvaluationResult(rig.db, row.id);
    expect(await judgeCalls(row.id)).toBe(6);
    expect(result?.result.tokens.judge).toBe(spent.rows[0]?.tokens);
    expect(result?.result.cost_usd.judge).toBeCloseTo(spent.rows[0]?.cost ?? Number.NaN, 12);
  });

  test('judge.times: the judge’s variance apart from the agent’s is in the result', async () => {
    const model = await rig.model({
      model: 'scripted-1',
      rules: [
        {
          when: { model: 'scripted-judge', user_matches: 'echo 0' },
          reply: { json: { result: 'failure', reason: 'no' } },
          allow_repeat: true,
        },
        JUDGE,
        ECHO,
      ],
    });
    const row = await rig.evaluate(model, {
      cases: judgedCases(3),
      suite: { trials: 2, judge: { ...judged.judge, times: 3 } },
    });
    const stored = await loadEvaluationResult(rig.db, row.id);
    expect(stored?.result.judge_variance).toEqual([
      {
        dimension: 'task_completion',
        cases: 3,
        trials: 6,
        verdicts: 18,
        differing_trials: 0,
        judge_variance: 0,
        agent_variance: 0,
        judge_share: null,
      },
    ]);
    expect((await verdictsOf(row.id)).filter((one) => one.round === 2)).toHaveLength(6);
  });
});
