import { describe, expect, it, test } from 'vitest';
import type { EvalCase } from '../../../src/core/case.ts';
import { atLeast } from '../../../src/core/score.ts';
import { JUDGE_DIMENSIONS } from '../../../src/core/suite.ts';
import type { JudgeDimension } from '../../../src/core/suite.ts';
import type { Trajectory } from '../../../src/core/trajectory.ts';
import { DIMENSIONS } from '../../../src/judge/dimensions/dimensions.ts';
import { readReply } from '../../../src/judge/read-reply.ts';
import { madeCalls, trajectory } from '../scorers/fixtures.ts';
import { judgeOne, reply } from './judge-fixture.ts';
import { REPLIES } from './replies.ts';

const NO_DATA = { written: [], delimiters: [] };

const reading = (dimension: JudgeDimension, fields: object): { value: number; passed: boolean } | null => {
  const result = readReply(reply(JSON.stringify(fields)), DIMENSIONS[dimension], NO_DATA);
  return result.ok ? { value: result.reading.value, passed: result.reading.passed } : null;
};

const BINARY = ['tool_selection', 'prompt_assembly', 'subagent_isolation'] as const;
const LIKERT = ['rag_recall', 'answer_completeness', 'multi_turn_coherence'] as const;

describe('every dimension', () => {
  test.each(JUDGE_DIMENSIONS)('%s has its own name, and says yes and no', (name) => {
    expect(DIMENSIONS[name].name).toBe(name);
    const { passing, failing } = REPLIES[name];
    expect(reading(name, passing)).toMatchObject({ value: 1, passed: true });
    expect(reading(name, failing)).toMatchObject({ value: 0, passed: false });
  });

  test.each(JUDGE_DIMENSIONS)('%s: each field is needed, but for the reason', (name) => {
    const { passing } = REPLIES[name];
    const optional = new Set(['reason', 'summary', 'failure_reason']);
    for (const key of Object.keys(passing)) {
      const rest = Object.fromEntries(Object.entries(passing).filter(([other]) => other !== key));
      expect([key, reading(name, rest)?.passed ?? null]).toEqual([key, optional.has(key) ? true : null]);
    }
  });

  test.each(JUDGE_DIMENSIONS)('%s: the reply schema asks for exactly the fields that are read', (name) => {
    const { replySchema } = DIMENSIONS[name];
    expect(replySchema['required']).toEqual(Object.keys(REPLIES[name].passing));
    expect(Object.keys(replySchema['properties'] ?? {})).toEqual(replySchema['required']);
    expect(replySchema['additionalProperties']).toBe(false);
  });

  test.each(JUDGE_DIMENSIONS)('%s passes from its threshold on, not below', (name) => {
    const { passing, failing } = REPLIES[name];
    for (const fields of [passing, failing]) {
      const read = reading(name, fields);
      expect(read?.passed).toBe(atLeast(read?.value ?? Number.NaN, DIMENSIONS[name].passesAt));
    }
  });
});

describe('binary dimensions', () => {
  it.each(BINARY)('%s is 1 or 0, also as a boolean or a text', (name) => {
    expect(DIMENSIONS[name]).toMatchObject({ scale: 'binary', passesAt: 1 });
    for (const yes of [1, '1', true, 1.0]) expect(reading(name, { score: yes })).toEqual({ value: 1, passed: true });
    for (const no of [0, '0', false]) expect(reading(name, { score: no })).toEqual({ value: 0, passed: false });
  });

  it.each(BINARY)('J4: %s: what is neither 0 nor 1 is unscored', (name) => {
    for (const bad of ['partial', 0.5, '0.9', 2, -1, null, 'true', 'yes', [1], '']) {
      expect(reading(name, { score: bad })).toBeNull();
    }
  });

  it('J2: {"pass":true,"score":0} fails: the score decides, the contradiction is flagged', async () => {
    const { draft, verdict } = await judgeOne([reply('{"pass":true,"score":0}')], { dimension: 'tool_selection' });
    expect(draft).toMatchObject({ value: 0, passed: false });
    expect(verdict.flags).toEqual(['contradiction']);
  });
});

describe('Likert dimensions', () => {
  it.each(LIKERT)('%s: (x − 1) ÷ 4, passing from 3.5 on', (name) => {
    expect(DIMENSIONS[name]).toMatchObject({ scale: 'likert', passesAt: 0.625 });
    const read = [1, 2, 3, 4, 5, '4', ' 5 ', '4.0'].map((score) => reading(name, { score }));
    expect(read.map((one) => one?.value)).toEqual([0, 0.25, 0.5, 0.75, 1, 0.75, 1, 0.75]);
    expect(read.map((one) => one?.passed)).toEqual([false, false, false, true, true, true, true, true]);
  });

  it.each(LIKERT)('J4: %s: no clamping, no first digit, no rounding', (name) => {
    for (const bad of ['45', 4.5, '4.5', -1, 0, 6, '4/5', '5 of 5', 'five', null, true, [5], '1e400']) {
      expect(reading(name, { score: bad })).toBeNull();
    }
  });

  it('J4: a number off the scale is repaired once, then unscored, the raw reply kept', async () => {
    const bad = reply('{"score":"45","reason":"r"}');
    const { draft, verdict, calls } = await judgeOne([bad, bad], { dimension: 'answer_completeness' });
    expect(draft).toMatchObject({ value: null, passed: null });
    expect(verdict).toMatchObject({ unscored_cause: 'judge_unparsable', raw_reply: bad.content });
    expect(calls[1]?.request.messages.at(-1)?.content).toContain(
      '"score" must be a whole number from 1 to 5, not "45"',
    );
    const repaired = await judgeOne([bad, reply('{"score":4}')], { dimension: 'answer_completeness' });
    expect(repaired.draft).toMatchObject({ value: 0.75, passed: true });
  });

  it('J5: <think>{"score":1}</think>{"score":5} is 5', async () => {
    const thinking = reply('<think>{"score":1}</think>{"score":5}');
    const { draft } = await judgeOne([thinking], { dimension: 'answer_completeness' });
    expect(draft).toMatchObject({ value: 1, passed: true });
    const unclosed = reply('<think>{"score":1}{"score":5}');
    expect((await judgeOne([unclosed, unclosed], { dimension: 'answer_completeness' })).draft.value).toBeNull();
  });

  it('J2: a total beside the score is compared on the same scale, and never counts', async () => {
    const read = async (text: string): Promise<unknown> =>
      (await judgeOne([reply(text)], { dimension: 'answer_completeness' })).verdict.flags;
    expect(await read('{"score":4,"total":4}')).toEqual([]);
    expect(await read('{"score":4,"total":5}')).toEqual(['contradiction']);
    expect(await read('{"score":3,"passed":true}')).toEqual(['contradiction']);
  });
});

describe('trajectory', () => {
  const parts = { tool_selection_score: 0.5, argument_correctness_score: 1, efficiency_score: 0.25 };

  it('task_success alone is the value; the parts are in the details', async () => {
    const judged = reply(JSON.stringify({ task_success: 1, ...parts, failure_reason: null }));
    const { draft } = await judgeOne([judged], { dimension: 'trajectory' });
    expect(draft).toMatchObject({ value: 1, passed: true, reason: 'every rule of the rubric is met' });
    expect(draft.details).toMatchObject({ verdict: { task_success: 1, ...parts } });
  });

  it('a failure gives its reason; parts out of range make it unscored whatever task_success says', async () => {
    const failed = { task_success: false, ...parts, failure_reason: 'rule 2: no price' };
    const { draft } = await judgeOne([reply(JSON.stringify(failed))], { dimension: 'trajectory' });
    expect(draft).toMatchObject({ value: 0, passed: false, reason: 'rule 2: no price' });
    expect(reading('trajectory', { ...failed, task_success: true, efficiency_score: 1.2 })).toBeNull();
    expect(reading('trajectory', { ...failed, task_success: 'partial' })).toBeNull();
    expect(reading('trajectory', { ...failed, failure_reason: ['x'] })).toBeNull();
  });
});

describe('plan dimensions', () => {
  it('plan_quality is its coverage, passing from 0.7; the order stands beside it', async () => {
    const read = (coverage: number): unknown => reading('plan_quality', { coverage, order_score: 0, summary: 's' });
    expect(read(0.7)).toEqual({ value: 0.7, passed: true });
    expect(read(0.69)).toEqual({ value: 0.69, passed: false });
    const { draft } = await judgeOne([reply('{"coverage":0.8,"order_score":0.5,"summary":"one is late"}')], {
      dimension: 'plan_quality',
      trajectory: { plan: ['look up'] },
    });
    expect(draft).toMatchObject({ value: 0.8, passed: true, reason: 'one is late' });
    expect(draft.details).toMatchObject({ verdict: { coverage: 0.8, order_score: 0.5 } });
  });

  it('plan_consistency is as given, passing from 0.7', () => {
    expect(reading('plan_consistency', { score: 0.7 })).toEqual({ value: 0.7, passed: true });
    expect(reading('plan_consistency', { score: '0.65' })).toEqual({ value: 0.65, passed: false });
    expect(reading('plan_consistency', { score: 7 })).toBeNull();
  });
});

/** A case and a trial that have something for every variable of every prompt. */
const RICH_CASE: EvalCase = {
  id: 'c',
  input: 'Weather in Oslo?',
  expected: {
    calls: [{ tool: 'weather', args: { city: 'Oslo' } }],
    answer: 'Cloudy, 4 degrees.',
    criteria: 'names the temperature',
    doc_ids: ['D-1'],
    plan: ['ask the weather service', 'answer'],
  },
  rubric: 'rule 1: weather is called',
  min_steps: 1,
  context: {
    memory: [
      { role: 'user', content: 'I live in Oslo.' },
      { role: 'assistant', content: 'Noted.' },
    ],
    documents: [{ id: 'D-1', text: 'Oslo has a harbour.', title: 'Oslo' }],
    prompt_segments: [{ name: 'base', text: 'You help with weather.' }],
    sub_agents: [{ name: 'scout', tools: ['weather'] }],
  },
};
const RICH_TRIAL: Trajectory = trajectory([{ tool: 'weather', args: { city: 'Oslo' }, result: { sky: 'cloudy' } }], {
  answer: 'It is 4 degrees.',
  available_tools: [{ name: 'weather', description: 'weather of a city' }],
  plan: ['ask', 'tell'],
  retrieved_doc_ids: ['D-1', 'D-9'],
  messages: [{ role: 'system', content: 'You help with weather. Today is Monday.' }],
  sub_agents: [
    {
      name: 'scout',
      input: 'look at Oslo',
      output: 'seen',
      final_status: 'COMPLETED',
      tool_calls: madeCalls([{ tool: 'weather', args: { city: 'Oslo' }, result: 'wet' }]),
      usage: { input: 1, cached: 0, output: 1, reasoning: 0, total: 2 },
      allowed_tools: ['weather'],
    },
  ],
});

describe('what a judge is shown', () => {
  const content = (
    name: JudgeDimension,
    evalCase: Partial<EvalCase> = {},
    trial: Partial<Trajectory> = {},
  ): Record<string, string | null> =>
    DIMENSIONS[name].content({
      evalCase: { ...RICH_CASE, ...evalCase },
      trajectory: { ...RICH_TRIAL, ...trial },
      subAgents: [{ name: 'clerk', tools: ['files'] }],
    });

  test.each(JUDGE_DIMENSIONS)('%s: every variable has content, and there is no other', (name) => {
    const shown = content(name);
    expect(Object.keys(shown).sort()).toEqual(DIMENSIONS[name].variables.map((variable) => variable.name).sort());
    for (const [variable, text] of Object.entries(shown)) expect([variable, text]).not.toEqual([variable, null]);
  });

  test('tools: called with arguments but without results, expected, on offer', () => {
    expect(content('tool_selection')).toMatchObject({
      available: '1. weather: weather of a city',
      called: '1. turn 1: weather {"city":"Oslo"}',
      expected: '1. weather {"city":"Oslo"}',
    });
    expect(content('tool_selection', { expected: { calls: [] } }, { tool_calls: [] })).toMatchObject({
      called: 'no tool was called',
      expected: 'no tool is to be called',
    });
    const ways = { any_of: [{ name: 'by train', calls: [] }, { calls: [{ tool: 'f', args: null }] }] };
    expect(content('tool_selection', { expected: ways })['expected']).toBe(
      '1. by train:\nno tool is to be called\n2. one right way:\n1. f (any arguments)',
    );
    expect(content('tool_selection', { expected: { must_call: ['f', 'g'] } })['expected']).toBe('1. f\n2. g');
  });

  test('a call that could not be read, failed, or waited for approval is shown as such', () => {
    const steps = content(
      'trajectory',
      {},
      {
        tool_calls: madeCalls([
          { tool: '(malformed)', args: null, raw_arguments: '{"a":', malformed: 'not JSON' },
          { tool: 'pay', error: { kind: 'http_500', message: 'boom' }, approved: false },
        ]),
        final_status: 'FAILED',
        final_status_reason: 'why',
      },
    )['steps'];
    expect(steps).toContain('(malformed) could not be read (not JSON): {"a":');
    expect(steps).toContain('approved before: no');
    expect(steps).toContain('result: failed, http_500: boom');
    expect(steps).toContain('ended FAILED (why)');
  });

  test('long arguments and results are cut, and it says by how much', () => {
    const long = `${'x'.repeat(3999)}😀${'y'.repeat(1000)}`;
    const steps = content('trajectory', {}, { tool_calls: madeCalls([{ tool: 'f', result: long }]) })['steps'] ?? '';
    expect(steps).toContain(`${'x'.repeat(3999)} … (1002 more characters are not shown)`);
    expect(steps.isWellFormed()).toBe(true);
  });

  test('sub-agents: what each was told, may use, did and returned', () => {
    expect(content('subagent_isolation')['sub_steps']).toBe(
      [
        'sub-agent 1: scout, ended COMPLETED; may use: weather',
        'was told: look at Oslo',
        'did: 1. weather {"city":"Oslo"}\n   result: wet',
        'returned: seen',
      ].join('\n'),
    );
    const declared = (sub_agents?: string[]): unknown =>
      content('subagent_isolation', { context: sub_agents === undefined ? {} : { sub_agents } })['declared'];
    expect(content('subagent_isolation')['declared']).toBe('1. {"name":"scout","tools":["weather"]}');
    expect(declared(['clerk', 'nobody'])).toBe('1. {"name":"clerk","tools":["files"]}\n2. "nobody"');
    expect(declared()).toBe('1. {"name":"clerk","tools":["files"]}');
    const [run] = RICH_TRIAL.sub_agents;
    const blocked = {
      ...run!,
      blocked: 'max_dispatches (1) is reached',
      output: null,
      tool_calls: [],
      timed_out: true,
    };
    expect(content('subagent_isolation', {}, { sub_agents: [blocked] })['sub_steps']).toMatch(
      /blocked: max_dispatches \(1\) is reached; cut by its timeout[\s\S]*did: no tool call\nreturned: nothing/,
    );
    expect(content('subagent_isolation', {}, { sub_agents: [] })['sub_steps']).toBeNull();
  });

  test('retrieved documents: as reported, with their texts; else what was given and what tools returned', () => {
    expect(content('rag_recall')['retrieved']).toBe('1. [D-1] Oslo Oslo has a harbour.\n2. [D-9]');
    expect(content('rag_recall', {}, { retrieved_doc_ids: [] })['retrieved']).toBe('nothing was retrieved');
    const given = content('rag_recall', {}, { retrieved_doc_ids: null })['retrieved'];
    expect(given).toContain('1. [D-1] Oslo Oslo has a harbour.');
    expect(given).toContain('result: {"sky":"cloudy"}');
  });

  test('the prompt: segments as reported, else the system messages; the segments expected', () => {
    expect(content('prompt_assembly')).toMatchObject({
      prompt: 'You help with weather. Today is Monday.',
      segments: '1. base: You help with weather.',
    });
    const reported = {
      prompt_segments: [
        { name: 'base', text: '' },
        { name: 'topic', text: 'Rain' },
      ],
    };
    expect(content('prompt_assembly', {}, reported)['prompt']).toBe('1. base: (empty)\n2. topic: Rain');
    const expected = { prompt_segments: ['base', { name: 'topic', empty: true }, { name: 'x', contains: ['a "b"'] }] };
    expect(content('prompt_assembly', { expected })['segments']).toBe(
      '1. base: You help with weather.\n2. topic (may be empty or missing)\n3. x (holds "a \\"b\\"")',
    );
  });

  test('the history: memory as the case has it, and of a dialogue the turns before the last', () => {
    expect(content('multi_turn_coherence')).toMatchObject({
      query: 'Weather in Oslo?',
      history: 'user: I live in Oslo.\nassistant: Noted.',
    });
    const { input: _input, context: _context, ...base } = RICH_CASE;
    const dialogue: EvalCase = { ...base, turns: ['a?', 'b?', 'c?'] };
    const messages: Trajectory['messages'] = [
      { role: 'system', content: 'sys' },
      { role: 'user', content: 'a?' },
      { role: 'assistant', content: null, tool_calls: [] },
      { role: 'tool', content: 'r' },
      { role: 'assistant', content: 'A.' },
      { role: 'user', content: 'b?' },
      { role: 'assistant', content: 'B.' },
      { role: 'user', content: 'c?' },
      { role: 'assistant', content: 'C.' },
    ];
    const shown = DIMENSIONS.multi_turn_coherence.content({
      evalCase: dialogue,
      trajectory: { ...RICH_TRIAL, messages },
      subAgents: [],
    });
    expect(shown).toMatchObject({ query: 'c?', history: 'user: a?\nassistant: A.\nuser: b?\nassistant: B.' });
    const silent = DIMENSIONS.multi_turn_coherence.content({
      evalCase: dialogue,
      trajectory: { ...RICH_TRIAL, messages: [] },
      subAgents: [],
    });
    expect(silent['history']).toBe('user: a?\nuser: b?');
  });

  test('messages: all before the last of the user, which is the query', () => {
    const { input: _input, context: _context, ...base } = RICH_CASE;
    const evalCase: EvalCase = {
      ...base,
      messages: [
        { role: 'user', content: 'one' },
        { role: 'assistant', content: 'two' },
        { role: 'user', content: 'three' },
      ],
    };
    const shown = DIMENSIONS.multi_turn_coherence.content({ evalCase, trajectory: RICH_TRIAL, subAgents: [] });
    expect(shown).toMatchObject({ query: 'three', history: 'user: one\nassistant: two' });
  });

  test('the plan: as reported; else what the agent wrote with its first calls; else, for the steps, the one it was given', () => {
    expect(content('plan_quality')).toMatchObject({
      plan: '1. ask\n2. tell',
      points: '1. ask the weather service\n2. answer',
    });
    expect(content('plan_quality', {}, { plan: [] })['plan']).toBe('an empty plan');
    const messages: Trajectory['messages'] = [
      { role: 'assistant', content: 'First I ask.', tool_calls: [{ id: '1' }] },
    ];
    expect(content('plan_quality', {}, { plan: null, messages })['plan']).toBe('First I ask.');
    const given = { prompt_segments: [{ name: 'execution_plan', text: '1 ask 2 tell' }] };
    expect(content('plan_consistency', {}, { plan: null, ...given })['plan']).toBe('1 ask 2 tell');
    expect(content('plan_quality', {}, { plan: null, ...given })['plan']).toBeNull();
  });
});

describe('what a trajectory does not record is not judged', () => {
  const { context: _context, ...bare } = RICH_CASE;
  const NOTHING: Partial<Trajectory> = { plan: null, retrieved_doc_ids: null, messages: [], tool_calls: [] };

  test.each([
    ['plan_quality', 'the trajectory records no plan'],
    ['plan_consistency', 'the trajectory records no plan'],
    ['rag_recall', 'the trajectory records no retrieved documents'],
    ['prompt_assembly', 'the trajectory records no system prompt'],
    ['subagent_isolation', 'no sub-agent was dispatched'],
  ] as const)('%s: null without a call, for %s', async (dimension, why) => {
    const { draft, verdict, calls } = await judgeOne([], { dimension, evalCase: bare, trajectory: NOTHING });
    expect(draft).toMatchObject({ scorer: dimension, value: null, passed: null, reason: `not scored: ${why}` });
    expect(draft.details).toEqual({ unscored_cause: 'not_recorded' });
    expect(calls).toEqual([]);
    expect(verdict).toBeUndefined();
  });

  test.each(['task_completion', 'tool_selection', 'trajectory'] as const)(
    '%s is asked all the same: doing nothing is something to judge',
    async (dimension) => {
      const { calls } = await judgeOne([reply(JSON.stringify(REPLIES[dimension].failing))], {
        dimension,
        evalCase: bare,
        trajectory: NOTHING,
      });
      expect(calls).toHaveLength(1);
    },
  );
});
