import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { EvalCase } from '../../../src/core/case.ts';
import { JUDGE_DIMENSIONS } from '../../../src/core/suite.ts';
import { openRig, type Rig } from './support/rig.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await openRig();
});
afterAll(() => rig.close());

/** What only the prompt of this dimension says, and a reply to it. */
const ASKED: [dimension: string, says: string, reply: object][] = [
  ['task_completion', 'completed a user', { result: 'success', reason: 'r' }],
  ['tool_selection', 'called the right tools', { score: 1, reason: 'r' }],
  ['prompt_assembly', 'was put together correctly', { score: 1, reason: 'r' }],
  ['rag_recall', 'what an assistant retrieved', { score: 4, reason: 'r' }],
  ['answer_completeness', 'how completely', { score: 3, reason: 'r' }],
  ['multi_turn_coherence', 'fits what was said earlier', { score: 5, reason: 'r' }],
  [
    'trajectory',
    'in one trial against a rubric',
    {
      task_success: 0,
      tool_selection_score: 1,
      argument_correctness_score: 1,
      efficiency_score: 0.5,
      failure_reason: 'rule 1',
    },
  ],
  ['plan_quality', 'plan before any step was taken', { coverage: 0.75, order_score: 1, summary: 'r' }],
  ['plan_consistency', 'did what its plan says', { score: 0.6, reason: 'r' }],
];

const TOOL = { name: 'look_up', description: 'looks it up', parameters: { type: 'object', properties: {} } };
const AGENT = {
  model: 'scripted-1',
  rules: [
    {
      when: { turn: 0, user_contains: 'look' },
      reply: { content: 'First I look, then I tell.', tool_calls: [{ name: 'look_up', arguments: {} }] },
      allow_repeat: true,
    },
  ],
  default: { reply: { content: 'It is 4 degrees.' } },
};
const JUDGE = {
  model: 'scripted-judge',
  rules: ASKED.map(([name, says, json]) => ({ name, when: { system_contains: says }, reply: { json } })),
};

const oneCase = (id: string, fields: Partial<EvalCase> = {}): EvalCase => ({
  id,
  input: 'look at the weather',
  expected: { criteria: 'names the degrees' },
  dimension: id.split(' ')[0] ?? id,
  ...fields,
});

const segments = (names: string[]): Partial<EvalCase> => ({
  context: { prompt_segments: names.map((name) => ({ name, text: `This is the text of ${name}.` })) },
  expected: { criteria: 'c', prompt_segments: ['base', 'topic'] },
});

const CASES: EvalCase[] = [
  oneCase('tool_selection', { expected: { calls: [{ tool: 'look_up', args: null }] } }),
  oneCase('prompt_assembly', segments(['base', 'topic'])),
  oneCase('prompt_assembly broken', segments(['topic', 'base'])),
  oneCase('subagent_isolation'),
  oneCase('rag_recall', { context: { documents: [{ id: 'd', text: 'four' }] }, expected: { doc_ids: ['d'] } }),
  oneCase('answer_completeness'),
  oneCase('multi_turn_coherence', { context: { memory: [{ role: 'user', content: 'I am in Oslo' }] } }),
  oneCase('trajectory', { rubric: 'rule 1: the degrees are named' }),
  oneCase('plan_quality', { expected: { plan: ['look', 'tell'] } }),
  oneCase('plan_consistency'),
  oneCase('plan_consistency silent', { input: 'say nothing of a plan' }),
];

test('every dimension is asked, stored and decides the cases that are about it; a failed check or an empty record is not asked', async () => {
  const model = await rig.model(AGENT);
  const judge = await rig.model(JUDGE);
  const row = await rig.evaluate(model, {
    cases: CASES,
    suite: {
      tools: [TOOL],
      fixtures: {},
      judge: { base_url: judge.url, dimensions: JUDGE_DIMENSIONS.filter((name) => name !== 'answer_quality') },
    },
  });
  expect(row.status).toBe('completed');
  const scores = await sql<{ case_id: string; value: number | null; passed: boolean | null; deciding: boolean }>`
    select case_id, value, passed, deciding from score
    where evaluation_id = ${row.id} and scorer = dimension and scorer = split_part(case_id, ' ', 1)
    order by case_id collate "C"`.execute(rig.db);
  expect(scores.rows.map(({ case_id, value, passed }) => [case_id, value, passed])).toEqual([
    ['answer_completeness', 0.5, false],
    ['multi_turn_coherence', 1, true],
    ['plan_consistency', 0.6, false],
    ['plan_consistency silent', null, null],
    ['plan_quality', 0.75, true],
    ['prompt_assembly', 1, true],
    ['prompt_assembly broken', 0, false],
    ['rag_recall', 0.75, true],
    ['subagent_isolation', null, null],
    ['tool_selection', 1, true],
    ['trajectory', 0, false],
  ]);
  expect(scores.rows.every(({ deciding }) => deciding)).toBe(true);
  const trials = await sql<{ case_id: string; status: string }>`
    select case_id, status from trial where evaluation_id = ${row.id} and case_id like 'prompt%' or case_id like '%silent'
    order by case_id collate "C"`.execute(rig.db);
  expect(trials.rows.map(({ status }) => status)).toEqual(['unscored', 'passed', 'failed']);
  const verdicts = await sql<{ dimension: string; n: number }>`
    select dimension, count(*) as n from judge_verdict where evaluation_id = ${row.id} group by 1`.execute(rig.db);
  const asked = Object.fromEntries(verdicts.rows.map(({ dimension, n }) => [dimension, n]));
  // One of two prompts was broken, one of three trials recorded no plan, nothing was dispatched.
  expect(asked).toMatchObject({ prompt_assembly: 1, plan_consistency: 2, plan_quality: 1, trajectory: 1 });
  expect(asked['subagent_isolation']).toBeUndefined();
  // Fewer where two cases give the very same question: the cache answers the second.
  expect(judge.stats().calls).toBeLessThanOrEqual(Object.values(asked).reduce((sum, n) => sum + n, 0));
  expect(judge.stats().unmatched).toBe(0);
});
