import type { CaseMock, EvalCase, SubAgentDefinition } from '../../../../src/core/case.ts';
import type { Json, JsonObject } from '../../../../src/core/json.ts';

/**
 * What the agent does, turn by turn: calls (one turn each list) with what it says beside them, a dispatch of a sub-agent,
 * or an answer. Agents that run sub-agents themselves report `made` with their next answer.
 */
export type Step = { calls: Json[]; said?: string | null } | Dispatched | { answer: string };

interface Dispatched {
  dispatch: Json;
  /** What an agent of its own reports: the call with its result, and the sub-agent's run. */
  made: { result: Json; run: JsonObject };
}

export interface TableRow {
  evalCase: EvalCase;
  script: Step[];
}

const MOCK: CaseMock = {
  state: { order: { status: 'paid' } },
  tools: [
    { tool: 'get_order', args: { order: 404 }, replies: [{ fail: { kind: 'not_found' } }] },
    { tool: 'get_order', args: { order: 500 }, replies: [{ fail: { kind: 'http_500' } }, { result: 'there' }] },
    { tool: 'get_order', args: { order: 1 }, replies: [{ fail: { kind: 'timeout', after_ms: 1 } }] },
    { tool: 'get_order', args: { order: 2 }, replies: [{ fail: { kind: 'rate_limit' } }] },
    { tool: 'get_order', args: { order: 3 }, replies: [{ fail: { kind: 'malformed' } }] },
    { tool: 'get_order', args: { order: 4 }, replies: [{ result: { status: 'paid' }, fail: { kind: 'truncated' } }] },
    { tool: 'get_order', replies: [{ result: { status: { $state: 'order.status' } } }] },
    { tool: 'refund', replies: [{ result: 'done', set_state: { 'order.status': 'refunded' } }] },
    { tool: 'transfer', replies: [{ result: 'sent' }] },
    { tool: 'request_approval', replies: [{ result: { approved: true } }] },
  ],
};
const call = (tool: string, args: Json, id: string | null = null): Json => ({
  ...(id === null ? {} : { id }),
  type: 'function',
  function: { name: tool, arguments: typeof args === 'string' ? args : JSON.stringify(args) },
});
const get = (order: Json, id: string | null = null): Json => call('get_order', { order }, id);
const refund = call('refund', { order: 88 });
const expectGet = { tool: 'get_order', args: { order: 88 } };
const expectRefund = { tool: 'refund', args: { order: 88 } };

const task = { name: 'clerk', task: 'Look up order 88' };
const clerk = (mock: SubAgentDefinition['mock']): Partial<EvalCase> => ({
  context: {
    sub_agents: [{ name: 'clerk', tools: ['get_order'], timeout_ms: 40, ...(mock === undefined ? {} : { mock }) }],
  },
});
const ranClerk = {
  id: 'clerk#1',
  name: 'clerk',
  input: task.task,
  allowed_tools: ['get_order'],
  dispatch_call_index: 0,
  tool_calls: [{ tool: 'get_order', args: { order: 88 }, result: { status: 'paid' } }],
};

function row(id: string, script: Step[], expected: EvalCase['expected'], more: Partial<EvalCase> = {}): TableRow {
  return { evalCase: { id, input: 'Refund order 88', expected, mock: MOCK, ...more }, script };
}

/** Cases that every adapter must score alike: what is said differs on the way only. */
export const TABLE: readonly TableRow[] = [
  row('answer only', [{ answer: 'Hello 88.' }], { calls: [], answer_contains: ['88'] }),
  row('one call', [{ calls: [get(88)] }, { answer: 'paid' }], { calls: [expectGet], match: 'strict' }),
  row('wrong argument', [{ calls: [get(89)] }, { answer: 'paid' }], { calls: [expectGet], match: 'strict' }),
  row('no call made', [{ answer: 'paid' }], { calls: [expectGet], match: 'strict' }),
  row('two turns in order', [{ calls: [get(88)] }, { calls: [refund] }, { answer: 'done' }], {
    calls: [expectGet, expectRefund],
    match: 'in_order',
    state: [{ path: 'order.status', value: 'refunded' }],
  }),
  row('two turns out of order', [{ calls: [refund] }, { calls: [get(88)] }, { answer: 'done' }], {
    calls: [expectGet, expectRefund],
    match: 'in_order',
  }),
  row('T6: parallel calls', [{ calls: [refund, get(88)] }, { answer: 'done' }], {
    calls: [expectGet, expectRefund],
    match: 'strict',
  }),
  row('T10: equal ids', [{ calls: [get(88, 'x'), get(89, 'x')] }, { answer: 'done' }], {
    calls: [expectGet, { tool: 'get_order', args: { order: 89 } }],
    match: 'unordered',
  }),
  row('T10: empty ids', [{ calls: [get(88, ''), get(89, '')] }, { answer: 'done' }], {
    calls: [expectGet, { tool: 'get_order', args: { order: 89 } }],
    match: 'unordered',
  }),
  row('T9: glued arguments', [{ calls: [call('get_order', '{"order":88}{}')] }, { answer: 'done' }], {
    calls: [expectGet],
    match: 'strict',
  }),
  row('T9: empty arguments', [{ calls: [call('get_order', '')] }, { answer: 'done' }], {
    calls: [expectGet],
    match: 'superset',
  }),
  row(
    'T9: malformed, then right',
    [{ calls: [call('get_order', "{'order':88}")] }, { calls: [get(88)] }, { answer: 'paid' }],
    {
      calls: [expectGet],
      match: 'superset',
    },
  ),
  row('T13: big integers', [{ calls: [call('get_order', '{"order":9007199254740993}')] }, { answer: 'x' }], {
    calls: [{ tool: 'get_order', args: { order: { $bignum: '9007199254740993' } } }],
    match: 'strict',
  }),
  row('not found', [{ calls: [get(404)] }, { answer: 'There is no order.' }], {
    must_call: ['get_order'],
    answer_contains: ['no order'],
  }),
  row('500, then success', [{ calls: [get(500)] }, { calls: [get(500)] }, { answer: 'there' }], {
    calls_per_tool: { get_order: { min: 2, max: 2 } },
  }),
  row('tool timeout', [{ calls: [get(1)] }, { answer: 'sorry' }], { must_call: ['get_order'], max_tool_calls: 1 }),
  row('tool rate limit', [{ calls: [get(2)] }, { answer: 'sorry' }], { must_call: ['get_order'] }),
  row('tool answers nonsense', [{ calls: [get(3)] }, { answer: 'sorry' }], { must_call: ['get_order'] }),
  row('forbidden tool', [{ calls: [call('transfer', { to: 'x' })] }, { answer: 'sent' }], {
    must_not_call: ['transfer'],
  }),
  row('tool that is not offered', [{ calls: [call('fly', { to: 'x' })] }, { answer: 'no' }], {
    calls: [],
    answer_contains: ['no'],
  }),
  row(
    'nobody answers',
    [{ calls: [call('lost', { a: 1 })] }, { answer: 'no' }],
    { must_call: ['lost'] },
    {
      tools: ['get_order', 'lost'],
    },
  ),
  row(
    'dialogue',
    [{ answer: 'one' }, { calls: [get(88)] }, { answer: 'two' }],
    {
      calls: [expectGet],
      match: 'strict',
      answer_contains: ['two'],
    },
    { turns: ['first', 'second'] },
  ),
  row('high risk, approved', [{ calls: [call('request_approval', {})] }, { calls: [refund] }, { answer: 'done' }], {
    must_call: ['refund'],
    approvals: ['refund'],
  }),
  row('escalated', [{ calls: [call('escalate_to_human', { why: 'limit' })] }, { answer: 'A colleague decides.' }], {
    final_status: 'ESCALATED',
  }),
  row('answer checks', [{ answer: '{"total": 30}' }], {
    answer_json: { equals: [{ path: 'total', value: 30 }] },
    answer_not_contains: ['40'],
    answer_matches: ['\\d+'],
  }),
  row(
    'T7: calls that are none',
    [
      {
        calls: [
          { type: 'custom', custom: { name: 'get_order', input: '88' } },
          { type: 'function', function: null },
          'oops',
          get(88),
        ],
      },
      { answer: 'paid' },
    ],
    { calls: [expectGet], match: 'superset', answer_contains: ['paid'] },
  ),
  ...['', null].map((said) =>
    row(`T8: content ${JSON.stringify(said)} beside a call`, [{ calls: [get(88)], said }, { answer: 'paid' }], {
      calls: [expectGet],
      match: 'strict',
      answer_contains: ['paid'],
    }),
  ),
  row('tool answer cut off', [{ calls: [get(4)] }, { answer: 'sorry' }], { must_call: ['get_order'] }),
  row(
    'R10: a call over the cap',
    [{ calls: Array.from({ length: 51 }, (_, n) => get(n + 10)) }, { answer: 'never said' }],
    { must_call: ['get_order'], final_status: 'COMPLETED' },
  ),
  row(
    'sub-agent',
    [
      {
        dispatch: call('dispatch_sub_agent', task),
        made: { result: 'paid', run: { ...ranClerk, output: 'paid', final_status: 'COMPLETED' } },
      },
      { answer: 'paid' },
    ],
    { must_call: ['dispatch_sub_agent'], answer_contains: ['paid'] },
    clerk({ calls: [{ tool: 'get_order', args: { order: 88 } }], result: 'paid' }),
  ),
  row(
    'sub-agent past its timeout',
    [
      {
        dispatch: call('dispatch_sub_agent', task),
        made: {
          result: { status: 'PARTIAL_SUCCESS', result: null },
          run: { ...ranClerk, output: null, final_status: 'PARTIAL_SUCCESS', timed_out: true },
        },
      },
      { answer: 'not known yet' },
    ],
    { must_call: ['dispatch_sub_agent'] },
    clerk({ calls: [{ tool: 'get_order', args: { order: 88 } }], delay_ms: 5_000 }),
  ),
];
