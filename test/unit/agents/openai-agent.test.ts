import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createOpenAiAgent } from '../../../src/agents/openai/openai-agent.ts';
import type { AgentInput } from '../../../src/agents/agent.ts';
import type { CaseMock, EvalCase } from '../../../src/core/case.ts';
import { ModelError } from '../../../src/core/errors.ts';
import type { Suite } from '../../../src/core/suite.ts';
import type { Trajectory } from '../../../src/core/trajectory.ts';
import {
  call,
  calls,
  caseOf,
  fakeTime,
  inputOf,
  replyOf,
  scripted,
  type ScriptedTrialModel,
  suiteOf,
  text,
} from './trial-fixture.ts';

const ORDER: CaseMock = {
  tools: [
    { tool: 'get_order', replies: [{ result: { id: 88, status: 'paid' } }] },
    { tool: 'refund', replies: [{ result: 'done' }] },
  ],
};

function run(
  model: ScriptedTrialModel,
  part: { evalCase?: Partial<EvalCase>; suite?: Partial<Suite>; input?: Partial<AgentInput> } = {},
): Promise<Trajectory> {
  const time = fakeTime();
  return createOpenAiAgent({ sleep: time.sleep }).run(
    inputOf({
      model,
      now: time.now,
      evalCase: caseOf({ mock: ORDER, ...part.evalCase }),
      suite: suiteOf(part.suite),
      ...part.input,
    }),
  );
}

describe('a trial', () => {
  test('calls a tool, reads its answer, answers', async () => {
    const model = scripted(calls(call('get_order', { order: 88 }, 'c1')), text('Order 88 is paid'));
    const trajectory = await run(model);
    expect(trajectory).toMatchObject({
      final_status: 'COMPLETED',
      final_status_reason: null,
      answer: 'Order 88 is paid',
      iterations: 2,
      model_calls: 2,
      usage: { input: 20, output: 10, total: 30 },
      model: 'served',
      unmatched_calls: [],
      end_state: null,
      sub_agents: [],
    });
    expect(trajectory.tool_calls).toEqual([
      {
        index: 0,
        turn: 0,
        id: 'c1',
        tool: 'get_order',
        args: { order: 88 },
        raw_arguments: null,
        malformed: null,
        result: { id: 88, status: 'paid' },
        error: null,
        approved: null,
        started_at_ms: 1_000,
        ended_at_ms: 1_000,
      },
    ]);
    expect(trajectory.messages).toEqual([
      { role: 'user', content: 'Refund order 88' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'get_order', arguments: '{"order":88}' } }],
      },
      { role: 'tool', tool_call_id: 'c1', content: '{"id":88,"status":"paid"}' },
      { role: 'assistant', content: 'Order 88 is paid' },
    ]);
    expect(model.places.map((place) => place.sequence)).toEqual([0, 1]);
  });

  test('what is sent: prompt, segments, documents, memory, messages, input; never the case id', async () => {
    const model = scripted(text('ok'));
    await run(model, {
      evalCase: {
        messages: [{ role: 'user', content: 'earlier' }],
        context: {
          memory: [{ role: 'assistant', content: 'remembered' }],
          documents: [{ id: 'd1', title: 'Handbook', text: 'Yellow over 150 %' }],
          prompt_segments: [{ name: 'topic', text: 'Topic: energy' }],
        },
      },
      suite: {
        agent: {
          type: 'openai',
          model: 'm',
          system_prompt: 'You help.',
          temperature: 0,
          seed: 7,
          max_output_tokens: 9,
        },
      },
      input: { trialIndex: 3 },
    });
    expect(model.requests[0]).toEqual({
      model: 'm',
      temperature: 0,
      // agent.seed + trialIndex - 1
      seed: 9,
      max_output_tokens: 9,
      tools: [{ name: 'get_order' }, { name: 'refund' }],
      messages: [
        {
          role: 'system',
          content: 'You help.\n\nTopic: energy\n\nDocuments:\n\n[d1] Handbook\nYellow over 150 %',
        },
        { role: 'assistant', content: 'remembered' },
        { role: 'user', content: 'earlier' },
        { role: 'user', content: 'Refund order 88' },
      ],
    });
    expect(JSON.stringify(model.requests)).not.toContain('case-id-canary');
  });

  test('the case picks tools by name and brings its own', async () => {
    const model = scripted(text('ok'));
    const own = { name: 'own', description: 'mine' };
    await run(model, { evalCase: { tools: ['refund', own] } });
    expect(model.requests[0]?.tools).toEqual([{ name: 'refund' }, own]);
  });

  test('a dialogue sends the next user turn after each answer', async () => {
    const model = scripted(text('A1'), calls(call('get_order', {})), text('A2'));
    const { input: _input, ...rest } = caseOf({ mock: ORDER, turns: ['T1', 'T2'] });
    const trajectory = await run(model, { input: { evalCase: rest } });
    expect(trajectory).toMatchObject({ final_status: 'COMPLETED', answer: 'A2', iterations: 3 });
    expect(trajectory.messages.map((message) => `${message.role}:${message.content}`)).toEqual([
      'user:T1',
      'assistant:A1',
      'user:T2',
      'assistant:null',
      'tool:{"id":88,"status":"paid"}',
      'assistant:A2',
    ]);
  });

  test('parallel calls overlap, are recorded in the order made, and share their turn', async () => {
    const mock: CaseMock = {
      tools: [
        { tool: 'get_order', replies: [{ result: 1, delay_ms: 500 }] },
        { tool: 'refund', replies: [{ result: 2, delay_ms: 100 }] },
      ],
    };
    const model = scripted(calls(call('get_order', {}, 'a'), call('refund', {}, 'b')), text('ok'));
    const trajectory = await run(model, { evalCase: { mock } });
    expect(trajectory.tool_calls.map(({ tool, turn, started_at_ms }) => [tool, turn, started_at_ms])).toEqual([
      ['get_order', 0, 1_000],
      ['refund', 0, 1_000],
    ]);
  });

  test('a tool error is given back as JSON and recorded', async () => {
    const mock: CaseMock = {
      tools: [{ tool: 'get_order', replies: [{ fail: { kind: 'http_500' } }, { result: 'ok now' }] }],
    };
    const model = scripted(calls(call('get_order', {})), calls(call('get_order', {})), text('ok'));
    const trajectory = await run(model, { evalCase: { mock } });
    expect(trajectory.tool_calls.map((made) => made.error?.kind ?? null)).toEqual(['http_500', null]);
    expect(JSON.parse(model.requests[1]?.messages.at(-1)?.content ?? '')).toEqual({
      error: { kind: 'http_500', message: 'get_order failed: HTTP 500 Internal Server Error' },
    });
    expect(model.requests[2]?.messages.at(-1)?.content).toBe('ok now');
  });

  test('a tool that is not offered is an error the agent can mend, not a missing fixture', async () => {
    const model = scripted(calls(call('restart', {})), text('sorry'));
    const trajectory = await run(model);
    expect(trajectory.tool_calls[0]?.error?.kind).toBe('unknown_tool');
    expect(trajectory.tool_calls[0]?.error?.message).toContain('get_order, refund');
    expect(trajectory.unmatched_calls).toEqual([]);
  });

  test('a call no fixture answers is an error and reported', async () => {
    const model = scripted(calls(call('get_order', {}), call('refund', {})), text('sorry'));
    const trajectory = await run(model, { evalCase: { mock: { tools: [] } } });
    expect(trajectory.unmatched_calls).toEqual([
      { index: 0, tool: 'get_order' },
      { index: 1, tool: 'refund' },
    ]);
  });

  test('J11: one reply without usage makes the sum unknown', async () => {
    const unknown = { input: null, cached: null, output: null, reasoning: null, total: null };
    const model = scripted(calls(call('get_order', {})), replyOf({ content: 'ok', usage: unknown }));
    const trajectory = await run(model);
    expect(trajectory.usage).toEqual(unknown);
    expect(trajectory.final_status).toBe('COMPLETED');
  });

  test('the first time to first token is kept', async () => {
    const model = scripted(
      replyOf({ tool_calls: [call('get_order', {})], time_to_first_token_ms: 40 }),
      replyOf({ content: 'ok', time_to_first_token_ms: 90 }),
    );
    expect((await run(model)).time_to_first_token_ms).toBe(40);
  });
});

describe('malformed calls', () => {
  test('T7: custom, missing function and a text are recorded as malformed; the run goes on', async () => {
    const raw = [
      { type: 'custom', id: 'x', custom: { name: 'refund', input: 'go' } },
      { type: 'function', function: null },
      'oops',
    ];
    const model = scripted(calls(...raw), text('done'));
    const trajectory = await run(model);
    expect(trajectory.final_status).toBe('COMPLETED');
    expect(trajectory.tool_calls.map(({ tool, args, raw_arguments }) => [tool, args, raw_arguments])).toEqual([
      ['refund', null, 'go'],
      ['(malformed)', null, '{"type":"function","function":null}'],
      ['(malformed)', null, 'oops'],
    ]);
    expect(trajectory.tool_calls.every((made) => made.error?.kind === 'malformed_call')).toBe(true);
    // What goes back to the endpoint is well-formed: three calls with ids, three answers.
    const sent = model.requests[1]?.messages ?? [];
    expect(sent[1]?.tool_calls).toHaveLength(3);
    expect(sent.slice(2).map((message) => message.tool_call_id)).toEqual(['x', 'call_1', 'call_2']);
    expect(JSON.stringify(sent[1]?.tool_calls)).toContain('oops');
  });

  test.each(['', null])('T8: content %j beside a good call is no empty answer', async (content) => {
    const model = scripted(replyOf({ content, tool_calls: [call('get_order', {}, 'a')] }), text('done'));
    const trajectory = await run(model);
    expect(trajectory.final_status).toBe('COMPLETED');
    expect(trajectory.tool_calls).toHaveLength(1);
  });

  test.each(['{}""', '', 'null', '"null"', "{'a':1}", '{"a":1}{"a":2}', '[1]', '7'])(
    'T9: arguments %j are malformed, the text is kept, the agent gets a tool error',
    async (raw) => {
      const model = scripted(calls(call('refund', raw, 'a')), text('done'));
      const trajectory = await run(model);
      const [made] = trajectory.tool_calls;
      expect(made).toMatchObject({ tool: 'refund', args: null, raw_arguments: raw, result: null });
      expect(made?.malformed).not.toBeNull();
      const told = JSON.parse(model.requests[1]?.messages.at(-1)?.content ?? '') as { error: { kind: string } };
      expect(told.error.kind).toBe('malformed_call');
    },
  );

  test('T9: a call without arguments at all is malformed, not {}', async () => {
    const model = scripted(calls({ id: 'a', type: 'function', function: { name: 'refund' } }), text('done'));
    expect((await run(model)).tool_calls[0]).toMatchObject({ args: null, raw_arguments: '' });
  });

  test.each([
    ['equal', ['same', 'same']],
    ['empty', ['', '']],
    ['missing', [null, null]],
  ])('T10: two calls with %s ids are two calls with two results, in order', async (_name, ids) => {
    const model = scripted(
      calls(call('get_order', {}, ids[0] ?? null), call('refund', {}, ids[1] ?? null)),
      text('done'),
    );
    const trajectory = await run(model);
    expect(trajectory.tool_calls.map(({ tool, result, id }) => [tool, result, id])).toEqual([
      ['get_order', { id: 88, status: 'paid' }, ids[0]],
      ['refund', 'done', ids[1]],
    ]);
    const sent = model.requests[1]?.messages ?? [];
    const [first, second] = sent.slice(2);
    expect(first?.content).toBe('{"id":88,"status":"paid"}');
    expect(second?.content).toBe('done');
    expect(new Set([first?.tool_call_id, second?.tool_call_id]).size).toBe(2);
    const sentIds = (sent[1]?.tool_calls ?? []).map((made) => (made as { id: string }).id);
    expect(sentIds).toEqual([first?.tool_call_id, second?.tool_call_id]);
  });

  test('T10: ids repeated in a later turn are told apart too', async () => {
    const model = scripted(calls(call('get_order', {}, 'c')), calls(call('refund', {}, 'c')), text('done'));
    await run(model);
    const ids = model.requests[2]?.messages.flatMap((message) => message.tool_call_id ?? []);
    expect(ids).toEqual(['c', 'call_1']);
  });

  test('T13: big integers and prototype keys in arguments stay what they are', async () => {
    const raw = '{"n":9007199254740993,"__proto__":{"polluted":true}}';
    const model = scripted(calls(call('refund', raw)), text('done'));
    const [made] = (await run(model)).tool_calls;
    expect(made?.args?.['n']).toEqual({ $bignum: '9007199254740993' });
    expect(Object.hasOwn(made?.args ?? {}, '__proto__')).toBe(true);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
    // The model's own text goes back, not our representation.
    expect(JSON.stringify(model.requests[1]?.messages[1])).not.toContain('$bignum');
  });
});

describe('how a trial ends', () => {
  const limits = (part: Partial<Suite['limits']>): Partial<Suite> => ({ limits: { ...suiteOf().limits, ...part } });
  const forever = (): ScriptedTrialModel =>
    scripted(...Array.from({ length: 100 }, () => calls(call('get_order', {}), call('get_order', {}))));

  test('R10: an agent that never stops calling ends at max_iterations, named', async () => {
    const trajectory = await run(forever(), { suite: limits({ max_iterations: 3 }) });
    expect(trajectory).toMatchObject({ final_status: 'MAX_ITERATIONS', iterations: 3, answer: null });
    expect(trajectory.final_status_reason).toContain('max_iterations (3)');
    expect(trajectory.tool_calls).toHaveLength(6);
  });

  test('R10: max_tool_calls, named; the call over it is recorded and not run', async () => {
    const trajectory = await run(forever(), { suite: limits({ max_tool_calls: 3 }) });
    expect(trajectory.final_status).toBe('MAX_ITERATIONS');
    expect(trajectory.final_status_reason).toContain('max_tool_calls (3)');
    expect(trajectory.tool_calls.map((made) => made.error?.kind ?? 'ok')).toEqual(['ok', 'ok', 'ok', 'limit']);
  });

  test('R10: an agent may use all its calls and still answer', async () => {
    const model = scripted(calls(call('get_order', {}), call('refund', {})), text('done'));
    const trajectory = await run(model, { suite: limits({ max_tool_calls: 2 }) });
    expect(trajectory).toMatchObject({ final_status: 'COMPLETED', answer: 'done' });
  });

  test('R10: max_tokens, named', async () => {
    const trajectory = await run(forever(), { suite: limits({ max_tokens: 30 }) });
    expect(trajectory).toMatchObject({ final_status: 'MAX_ITERATIONS', iterations: 2 });
    expect(trajectory.final_status_reason).toContain('max_tokens (30)');
  });

  test('R10: what the case expects does not stop the agent', async () => {
    const model = scripted(calls(call('get_order', {})), calls(call('refund', {})), text('done'));
    const trajectory = await run(model, { evalCase: { expected: { max_iterations: 1, max_tool_calls: 1 } } });
    expect(trajectory.final_status).toBe('COMPLETED');
  });

  test('R9: a context-length refusal is FAILED with the trajectory so far', async () => {
    const model = scripted(calls(call('get_order', {})), new ModelError('context_length', 'too long'));
    const trajectory = await run(model);
    expect(trajectory).toMatchObject({ final_status: 'FAILED', iterations: 1 });
    expect(trajectory.final_status_reason).toContain('context_length');
    expect(trajectory.tool_calls).toHaveLength(1);
  });

  test('R9: a content-filter refusal is FAILED, as an error and as a finish reason', async () => {
    const byError = await run(scripted(new ModelError('content_filter', 'flagged')));
    expect(byError).toMatchObject({ final_status: 'FAILED', answer: null });
    const byReason = await run(scripted(replyOf({ content: 'I was ab', finish_reason: 'content_filter' })));
    // What was cut off is in the messages; it is no answer that a check could pass.
    expect(byReason).toMatchObject({ final_status: 'FAILED', answer: null });
    expect(byReason.messages.at(-1)).toMatchObject({ role: 'assistant', content: 'I was ab' });
    expect(byReason.final_status_reason).toContain('content_filter');
  });

  test('R7: other model errors are infrastructure: they reject and leave no trajectory', async () => {
    for (const kind of ['server_error', 'rate_limit', 'quota', 'unauthorized', 'timeout', 'bad_request'] as const) {
      await expect(run(scripted(new ModelError(kind, 'no')))).rejects.toMatchObject({ kind });
    }
  });

  test('a refusal in the protocol field is an answer, said to be a refusal', async () => {
    const trajectory = await run(scripted(replyOf({ refusal: 'I cannot help with that' })));
    expect(trajectory).toMatchObject({ final_status: 'COMPLETED', answer: 'I cannot help with that' });
    expect(trajectory.final_status_reason).toContain('refusal');
  });

  test.each(['', '  \n', null])('an empty reply %j without calls is FAILED', async (content) => {
    const trajectory = await run(scripted(replyOf({ content })));
    expect(trajectory).toMatchObject({ final_status: 'FAILED', answer: null });
    expect(trajectory.final_status_reason).toContain('empty reply');
  });

  test('an answer cut for length is an answer, with a remark', async () => {
    const trajectory = await run(scripted(replyOf({ content: 'It is', finish_reason: 'length' })));
    expect(trajectory).toMatchObject({ final_status: 'COMPLETED', answer: 'It is' });
    expect(trajectory.final_status_reason).toContain('length');
  });

  test('memory is not mistaken for an answer', async () => {
    const memory = [{ role: 'assistant' as const, content: 'old answer' }];
    const trajectory = await run(scripted(new ModelError('content_filter', 'x')), {
      evalCase: { context: { memory } },
    });
    expect(trajectory.answer).toBeNull();
  });

  test('escalating ends ESCALATED, without a fixture too; a refused escalation does not', async () => {
    const suite = { tools: [{ name: 'escalate_to_human' }] };
    const script = (): ScriptedTrialModel =>
      scripted(calls(call('escalate_to_human', { why: 'over the limit' })), text('A person will call'));
    const trajectory = await run(script(), { suite });
    expect(trajectory).toMatchObject({ final_status: 'ESCALATED', answer: 'A person will call', unmatched_calls: [] });
    const mock: CaseMock = { tools: [{ tool: 'escalate_to_human', replies: [{ fail: { kind: 'http_500' } }] }] };
    expect((await run(script(), { suite, evalCase: { mock } })).final_status).toBe('COMPLETED');
    expect((await run(script(), { evalCase: { tools: ['refund'] } })).final_status).toBe('COMPLETED');
  });

  test('ask_user ends INPUT_REQUIRED with the question, unless a fixture answers', async () => {
    const suite = { tools: [{ name: 'ask_user' }] };
    const asking = calls(call('ask_user', { question: 'Which area?' }));
    const open = await run(scripted(asking), { suite });
    expect(open).toMatchObject({ final_status: 'INPUT_REQUIRED', answer: 'Which area?' });
    const mock: CaseMock = { tools: [{ tool: 'ask_user', replies: [{ result: 'Building A' }] }] };
    const answered = await run(scripted(asking, text('A uses 5 kWh')), { suite, evalCase: { mock } });
    expect(answered).toMatchObject({ final_status: 'COMPLETED', answer: 'A uses 5 kWh' });
  });
});

describe('approvals', () => {
  const suite: Partial<Suite> = {
    tools: [{ name: 'request_approval' }, { name: 'refund' }, { name: 'delete' }],
    safety: { forbidden_tools: [], high_risk_tools: ['refund', 'delete'] },
  };
  const mock = (result: unknown): CaseMock => ({
    tools: [
      { tool: 'request_approval', replies: [{ result: result as never, delay_ms: 4_000 }] },
      { tool: 'refund', replies: [{ result: 'done', delay_ms: 50 }] },
      { tool: 'delete', replies: [{ result: 'done' }] },
    ],
  });
  const twoSteps = (args: object = {}): ScriptedTrialModel =>
    scripted(calls(call('request_approval', args as never)), calls(call('refund', {})), text('ok'));

  test('given: the call is approved, and the wait is not latency', async () => {
    const trajectory = await run(twoSteps(), { suite, evalCase: { mock: mock({ approved: true }) } });
    expect(trajectory.tool_calls.map((made) => made.approved)).toEqual([null, true]);
    expect(trajectory.tool_calls[1]).toMatchObject({ result: 'done', error: null });
    expect(trajectory.approval_wait_ms).toBe(4_000);
    expect(trajectory.ended_at_ms - trajectory.started_at_ms).toBe(4_050);
  });

  test.each([{ approved: false }, { status: 'Rejected' }, { decision: 'denied' }])(
    'refused (%j): the call is not approved and not run',
    async (result) => {
      const trajectory = await run(twoSteps(), { suite, evalCase: { mock: mock(result) } });
      expect(trajectory.tool_calls[1]).toMatchObject({
        approved: false,
        result: null,
        error: { kind: 'approval_required' },
      });
    },
  );

  test('missing: the call is not approved', async () => {
    const model = scripted(calls(call('refund', {})), text('ok'));
    const trajectory = await run(model, { suite, evalCase: { mock: mock({ approved: true }) } });
    expect(trajectory.tool_calls[0]?.approved).toBe(false);
  });

  test('in the same turn: the agent cannot have seen the answer', async () => {
    const model = scripted(calls(call('request_approval', {}), call('refund', {})), text('ok'));
    const trajectory = await run(model, { suite, evalCase: { mock: mock({ approved: true }) } });
    expect(trajectory.tool_calls[1]?.approved).toBe(false);
  });

  test('for one tool: the other stays unapproved', async () => {
    const model = scripted(
      calls(call('request_approval', { tool: 'refund' })),
      calls(call('refund', {}), call('delete', {})),
      text('ok'),
    );
    const trajectory = await run(model, { suite, evalCase: { mock: mock({ approved: true }) } });
    expect(trajectory.tool_calls.map((made) => made.approved)).toEqual([null, true, false]);
  });
});

describe('time', () => {
  beforeEach(() => vi.useFakeTimers());
  afterEach(() => vi.useRealTimers());

  const hanging = (_request: unknown, signal: AbortSignal): Promise<never> =>
    new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(new ModelError('aborted', 'given up')));
    });

  test('R10: the time cap ends a hanging model call with TIMEOUT and what there was', async () => {
    const model = scripted(replyOf({ content: 'Looking', tool_calls: [call('get_order', {})] }), hanging);
    const running = run(model, { evalCase: { timeout_ms: 5_000 } });
    await vi.advanceTimersByTimeAsync(5_000);
    const trajectory = await running;
    expect(trajectory).toMatchObject({ final_status: 'TIMEOUT', answer: null, iterations: 1 });
    expect(trajectory.final_status_reason).toContain('5000 ms');
    expect(vi.getTimerCount()).toBe(0);
  });

  test('R10: the time cap ends a slow tool; its call is recorded as aborted', async () => {
    const mock: CaseMock = { tools: [{ tool: 'get_order', replies: [{ delay_ms: 60_000 }] }] };
    const running = createOpenAiAgent().run(
      inputOf({
        model: scripted(calls(call('get_order', {}))),
        evalCase: caseOf({ mock }),
        suite: suiteOf({ limits: { ...suiteOf().limits, timeout_ms: 100 } }),
      }),
    );
    await vi.advanceTimersByTimeAsync(100);
    const trajectory = await running;
    expect(trajectory.final_status).toBe('TIMEOUT');
    expect(trajectory.tool_calls[0]?.error?.kind).toBe('aborted');
    expect(vi.getTimerCount()).toBe(0);
  });

  test('a cancel rejects with AbortError, also when the model does not heed the signal', async () => {
    const controller = new AbortController();
    const model = scripted(() => new Promise<never>(() => {}));
    const running = run(model, { input: { signal: controller.signal } });
    const rejected = expect(running).rejects.toMatchObject({ name: 'AbortError' });
    await vi.advanceTimersByTimeAsync(1);
    controller.abort();
    await rejected;
    expect(vi.getTimerCount()).toBe(0);
  });
});
