import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { workflowIdOf } from '../../../src/commands/run/start-evaluation.ts';
import type { EvalCase } from '../../../src/core/case.ts';
import { openRig, type Rig } from './support/rig.ts';

/** An agent that leaks in one way, by name; `clean` does not. It reports its sub-agents as any agent can. */
const LEAKY = `
const run = (part) => ({ name: 'clerk', id: 'clerk#1', parent: null, input: 'find it', output: 'found it there',
  final_status: 'COMPLETED', tool_calls: [], messages: [{ role: 'user', content: 'find it' }], allowed_tools: ['look'],
  timeout_ms: 1000, timed_out: false, blocked: null, ...part });
const look = { tool: 'look', args: { at: 'shelf' } };
const thought = { role: 'assistant', content: 'the drawer behind the door is locked' };
const ways = {
  clean: () => [run({ tool_calls: [look], messages: [thought] })],
  steps_in_main: async (context) => {
    await context.wrap({ look: async () => 'seen' }).look({ at: 'shelf' });
    return [run({ tool_calls: [look] })];
  },
  messages_in_main: () => [run({ messages: [thought] })],
  timeout: () => [run({ timed_out: true, final_status: 'FAILED' })],
  max_dispatches: () => [run({}), run({ id: 'clerk#2' }), run({ id: 'clerk#3' })],
  shared_state: () => [
    run({ initial_state: { note: '' }, end_state: { note: 'blue' } }),
    run({ id: 'clerk#2', initial_state: { note: 'blue' }, end_state: { note: 'blue' } }),
  ],
  canary_passed: () => [run({ input: 'find it, the word is BLUE-HERON-7' })],
  foreign_tool: () => [run({ tool_calls: [{ tool: 'pay', args: {} }] })],
};
export default async function agent(input, context) {
  const subAgents = await ways[input](context);
  return { answer: input === 'messages_in_main' ? 'It said: the drawer behind the door is locked' : 'done', subAgents };
}`;

const RULES = [
  'steps_in_main',
  'messages_in_main',
  'timeout',
  'max_dispatches',
  'shared_state',
  'canary_passed',
  'foreign_tool',
];

function caseOf(input: string): EvalCase {
  return {
    id: input,
    input,
    dimension: 'subagent_isolation',
    expected: { answer: 'done', canaries: ['BLUE-HERON-7'] },
    context: { sub_agents: [{ name: 'clerk', tools: ['look'], max_dispatches: 2, timeout_ms: 1000 }] },
  };
}

let rig: Rig;
let folder: string;
beforeAll(async () => {
  rig = await openRig();
  folder = mkdtempSync(path.join(tmpdir(), 'assay-isolation-'));
  writeFileSync(path.join(folder, 'agent.mjs'), LEAKY);
});
afterAll(async () => {
  await rig.close();
  rmSync(folder, { recursive: true, force: true });
});

async function scoresOf(id: string): Promise<Map<string, { passed: boolean | null; reason: string }>> {
  const rows = await rig.db
    .selectFrom('score')
    .select(['case_id', 'passed', 'reason'])
    .where('evaluation_id', '=', id)
    .where('scorer', '=', 'subagent_isolation')
    .execute();
  return new Map(rows.map(({ case_id, passed, reason }) => [case_id, { passed, reason }]));
}

describe('trials with sub-agents', () => {
  test.each(['no judge', 'a judge'])('a module that leaks is caught, the rule named; %s', async (judged) => {
    const judge = { name: 'judge', when: { model: 'scripted-judge' }, reply: { json: { score: 1, reason: 'fine' } } };
    const model = await rig.model({ model: 'scripted-1', rules: [{ ...judge, allow_repeat: true }] });
    const row = await rig.evaluate(model, {
      cases: ['clean', ...RULES].map(caseOf),
      suiteRoot: folder,
      suite: {
        agent: { type: 'module', path: 'agent.mjs' },
        // The agent is offered another tool: a call of the sub-agent's among its own is a leak.
        tools: [{ name: 'own' }],
        ...(judged === 'no judge' ? {} : { judge: { dimensions: ['subagent_isolation'] } }),
      },
    });
    expect(row.status).toBe('completed');
    const scores = await scoresOf(row.id);
    expect(scores.get('clean')?.passed).toBe(true);
    for (const rule of RULES) {
      expect([rule, scores.get(rule)?.passed]).toEqual([rule, false]);
      expect(scores.get(rule)?.reason).toContain(rule);
    }
    // A broken rule is a fact: the judge is asked about the clean trial only.
    expect(model.stats().calls).toBe(judged === 'no judge' ? 0 : 1);
    const history = await rig.client.workflow.getHandle(`${workflowIdOf(row.id)}/shard/0`).fetchHistory();
    const steps = (history.events ?? []).map((event) => event.activityTaskScheduledEventAttributes?.activityType?.name);
    expect(steps.filter((name) => name === 'checkIsolation')).toHaveLength(RULES.length + 1);
  });

  test('the built-in agent’s dispatch is clean, its simulated sub-agent’s slowness recorded', async () => {
    const dispatch = { name: 'dispatch_sub_agent', arguments: { name: 'slow', task: 'find order 88' } };
    const model = await rig.model({
      model: 'scripted-1',
      rules: [
        { when: { turn: 0 }, reply: { tool_calls: [dispatch] } },
        { when: { turn: 1, last_tool_contains: 'PARTIAL_SUCCESS' }, reply: { content: 'Only a part is done.' } },
      ],
    });
    const row = await rig.evaluate(model, {
      cases: [
        { id: 'slow', input: 'go', expected: { answer_contains: ['Only a part'], must_call: ['dispatch_sub_agent'] } },
      ],
      suite: { sub_agents: [{ name: 'slow', timeout_ms: 50, mock: { result: 'late', delay_ms: 60_000 } }] },
    });
    expect(row).toMatchObject({ status: 'completed', exit_code: 0 });
    expect((await scoresOf(row.id)).get('slow')).toMatchObject({ passed: true });
  });
});
