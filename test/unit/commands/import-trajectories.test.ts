import { readFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readToolCall } from '../../../src/agents/openai/read-tool-call.ts';
import { registerImport } from '../../../src/commands/suites/import.ts';
import { registerScore } from '../../../src/commands/suites/score.ts';
import type { Json } from '../../../src/core/json.ts';
import { parseJson } from '../../../src/core/lossless-json.ts';
import { FINAL_STATUSES, type ToolCall, type Trajectory } from '../../../src/core/trajectory.ts';
import { trajectoryFromRecord } from '../../../src/scorers/trajectories/from-record.ts';
import { folderWith, problemsOf } from '../datasets/temporary-folder.ts';
import { runCommand } from './command-harness.ts';

interface Line {
  caseId: string;
  trial: number;
  trajectory: Trajectory;
}

async function imported(from: string, text: string, more: string[] = []): Promise<Line[]> {
  const cwd = await folderWith({ 'in.json': text });
  const args = ['import', 'trajectories', 'in.json', '--from', from, '--out', 'out.jsonl', ...more];
  await runCommand(registerImport, args, { cwd });
  const lines = readFileSync(path.join(cwd, 'out.jsonl'), 'utf8').trim().split('\n');
  return lines.map((line) => JSON.parse(line) as Line);
}

const CALL = { id: 'c1', type: 'function', function: { name: 'get_order', arguments: '{"order":88}' } };
const MESSAGES = [
  { role: 'user', content: 'Refund order 88' },
  { role: 'assistant', content: null, tool_calls: [CALL] },
  { role: 'tool', tool_call_id: 'c1', content: 'paid' },
  { role: 'assistant', content: 'Done.' },
];

describe('OpenAI messages', () => {
  test('records a line, lists of messages, and requests with their response', async () => {
    const logged = {
      custom_id: 'b',
      request: { messages: MESSAGES.slice(0, 3), tools: [{ type: 'function', function: { name: 'get_order' } }] },
      response: {
        body: {
          model: 'm-1',
          choices: [{ message: { role: 'assistant', content: 'Done.' } }],
          usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
        },
      },
    };
    const lines = [
      { caseId: 'a', trial: 3, messages: MESSAGES },
      MESSAGES,
      logged,
      { case_id: 'a', messages: MESSAGES },
    ];
    const read = await imported('openai', lines.map((line) => JSON.stringify(line)).join('\n'));
    expect(read.map(({ caseId, trial }) => [caseId, trial])).toEqual([
      ['a', 3],
      ['line-2', 1],
      ['b', 1],
      ['a', 1],
    ]);
    for (const { trajectory } of read) {
      expect(trajectory.answer).toBe('Done.');
      expect(trajectory.tool_calls).toMatchObject([{ tool: 'get_order', args: { order: 88 }, result: 'paid' }]);
    }
    expect(read[2]?.trajectory).toMatchObject({
      model: 'm-1',
      usage: { input: 10, output: 5, total: 15 },
      available_tools: [{ name: 'get_order' }],
    });
  });

  test('one conversation, and a list of records, in a JSON file', async () => {
    expect(await imported('openai', JSON.stringify(MESSAGES, null, 2))).toMatchObject([{ caseId: 'line-1' }]);
    const records = [1, 2].map(() => ({ id: 'x', messages: MESSAGES }));
    expect(await imported('openai', JSON.stringify(records, null, 2))).toMatchObject([{ trial: 1 }, { trial: 2 }]);
  });

  test('bad lines are all named, and nothing is written', async () => {
    const cwd = await folderWith({ 'in.json': '{"messages":[]}\n{"a":1}\n{"messages":["x"]}\n' });
    const args = ['import', 'trajectories', 'in.json', '--from', 'openai', '--out', 'out.jsonl'];
    const problems = await problemsOf(runCommand(registerImport, args, { cwd }));
    expect(problems.map(({ line }) => line)).toEqual([2, 3]);
    const broken = await folderWith({ 'in.json': '{"messages":[]}\n{"a":\n' });
    expect(await problemsOf(runCommand(registerImport, args, { cwd: broken }))).toMatchObject([{ line: 2 }]);
  });
});

const attributes = (values: Record<string, unknown>): unknown[] =>
  Object.entries(values).map(([key, value]) => ({
    key,
    value:
      typeof value === 'number'
        ? { intValue: String(value) }
        : typeof value === 'string'
          ? { stringValue: value }
          : { stringValue: JSON.stringify(value) },
  }));

let spanId = 0;
function span(
  name: string,
  parent: string | null,
  values: Record<string, unknown>,
  more: object = {},
): { spanId: string } {
  spanId += 1;
  const at = 1_700_000_000_000 + spanId * 10;
  return {
    traceId: 't1',
    spanId: `s${spanId}`,
    ...(parent === null ? {} : { parentSpanId: parent }),
    name,
    startTimeUnixNano: `${at}000000`,
    endTimeUnixNano: `${at + 5}000000`,
    attributes: attributes(values),
    ...more,
  } as { spanId: string };
}
const document = (spans: unknown[], resource: Record<string, unknown> = {}): string =>
  JSON.stringify({ resourceSpans: [{ resource: { attributes: attributes(resource) }, scopeSpans: [{ spans }] }] });

describe('OpenTelemetry GenAI spans', () => {
  const agent = span('invoke_agent shop', null, {
    'gen_ai.operation.name': 'invoke_agent',
    'assay.case_id': 'refund-1',
  });
  const call = { type: 'tool_call', id: 'c1', name: 'get_order', arguments: { order: 88 } };
  const first = [{ role: 'user', parts: [{ type: 'text', content: 'Refund order 88' }] }];
  const chat = (parent: string, input: unknown[], output: unknown[]): unknown =>
    span('chat m-1', parent, {
      'gen_ai.operation.name': 'chat',
      'gen_ai.response.model': 'm-1',
      'gen_ai.system_instructions': [{ type: 'text', content: 'Be kind' }],
      'gen_ai.input.messages': input,
      'gen_ai.output.messages': output,
      'gen_ai.usage.input_tokens': 10,
      'gen_ai.usage.output_tokens': 5,
    });
  const tool = span('execute_tool get_order', agent.spanId, {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': 'get_order',
    'gen_ai.tool.call.id': 'c1',
    'gen_ai.tool.call.result': { status: 'paid' },
  });
  const unseen = span(
    'execute_tool notify',
    agent.spanId,
    {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'notify',
      'gen_ai.tool.call.arguments': '{"to":"me"}',
    },
    { status: { code: 2, message: 'no route' } },
  );
  const helper = span('invoke_agent helper', agent.spanId, {
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.agent.name': 'helper',
  });
  const spans = [
    agent,
    chat(agent.spanId, first, [{ role: 'assistant', parts: [call] }]),
    tool,
    helper,
    chat(
      helper.spanId,
      [{ role: 'user', parts: [{ type: 'text', content: 'check' }] }],
      [{ role: 'assistant', parts: [{ type: 'text', content: 'fine' }] }],
    ),
    chat(
      agent.spanId,
      [
        ...first,
        { role: 'assistant', parts: [call] },
        { role: 'tool', parts: [{ type: 'tool_call_response', id: 'c1', response: { status: 'paid' } }] },
      ],
      [{ role: 'assistant', parts: [{ type: 'text', content: 'Done.' }], finish_reason: 'stop' }],
    ),
    unseen,
  ];

  test('one trajectory a trace: conversation, calls with results and times, sub-agents, tokens', async () => {
    const [line, ...others] = await imported('otel', document(spans));
    expect(others).toEqual([]);
    expect(line).toMatchObject({ caseId: 'refund-1', trial: 1 });
    const trajectory = line?.trajectory;
    expect(trajectory).toMatchObject({
      answer: 'Done.',
      final_status: 'COMPLETED',
      iterations: 2,
      model_calls: 3,
      usage: { input: 30, output: 15, total: 45 },
      model: 'm-1',
      sub_agents: [{ name: 'helper', input: 'check', output: 'fine', usage: { input: 10 }, tool_calls: [] }],
    });
    expect(trajectory?.messages.map((message) => message.role)).toEqual([
      'system',
      'user',
      'assistant',
      'tool',
      'assistant',
    ]);
    expect(trajectory?.tool_calls).toMatchObject([
      { tool: 'get_order', args: { order: 88 }, result: { status: 'paid' }, error: null },
      { tool: 'notify', args: { to: 'me' }, error: { message: 'no route' } },
    ]);
    const { started_at_ms: from = 0, ended_at_ms: to = 0 } = trajectory?.tool_calls[0] ?? {};
    expect(to - from).toBe(5);
  });

  test('documents a line, an attribute of the resource, and older conventions', async () => {
    const old = span('openai.chat', null, {
      'gen_ai.request.model': 'm-2',
      'gen_ai.prompt.0.role': 'user',
      'gen_ai.prompt.0.content': 'Hi',
      'gen_ai.completion.0.content': 'Hello',
      'gen_ai.completion.0.tool_calls.0.name': 'greet',
      'gen_ai.completion.0.tool_calls.0.arguments': '{}',
      'gen_ai.usage.prompt_tokens': 3,
    });
    const events = span(
      'chat',
      null,
      { 'gen_ai.operation.name': 'chat' },
      {
        traceId: 't2',
        events: [
          { name: 'gen_ai.user.message', attributes: attributes({ content: 'Hi' }) },
          { name: 'gen_ai.choice', attributes: attributes({ message: { content: 'Hello' } }) },
        ],
      },
    );
    const text = `${document([old], { where: 'case-9' })}\n${document([events])}\n`;
    const read = await imported('otel', text, ['--case-attribute', 'where']);
    expect(read.map((line) => [line.caseId, line.trajectory.answer])).toEqual([
      ['case-9', 'Hello'],
      ['t2', 'Hello'],
    ]);
    expect(read[0]?.trajectory).toMatchObject({
      tool_calls: [{ tool: 'greet', args: {} }],
      usage: { input: 3, total: null },
    });
  });

  test('spans without agents, and what is no OTLP, are said', async () => {
    await expect(imported('otel', document([span('GET /', null, {})]))).rejects.toThrow('holds no run of an agent');
    await expect(imported('otel', '{"spans": []}')).rejects.toThrow('expected OTLP JSON');
  });
});

describe('Langfuse traces', () => {
  const at = (second: number): string => `2026-01-01T00:00:0${second}.000Z`;
  const trace = {
    id: 'trace-1',
    timestamp: at(0),
    metadata: { case: 'refund-1', trial: 2 },
    observations: [
      { id: 'a', type: 'AGENT', name: 'main', startTime: at(0), endTime: at(9) },
      {
        id: 'g1',
        parentObservationId: 'a',
        type: 'GENERATION',
        startTime: at(1),
        endTime: at(2),
        model: 'm-1',
        input: { messages: MESSAGES.slice(0, 1) },
        output: { role: 'assistant', content: null, tool_calls: [CALL] },
        usageDetails: { input: 10, output: 5, input_cached_tokens: 4, total: 15 },
      },
      {
        id: 't1',
        parentObservationId: 'a',
        type: 'TOOL',
        name: 'get_order',
        startTime: at(2),
        endTime: at(4),
        input: { order: 88 },
        output: { status: 'paid' },
      },
      {
        id: 'b',
        parentObservationId: 'a',
        type: 'AGENT',
        name: 'helper',
        startTime: at(4),
        endTime: at(5),
        input: 'check',
        output: 'fine',
      },
      {
        id: 't2',
        parentObservationId: 'b',
        type: 'TOOL',
        name: 'look',
        startTime: at(4),
        endTime: at(5),
        input: '{"x":1}',
        level: 'ERROR',
        statusMessage: 'gone',
      },
      {
        id: 'g2',
        parentObservationId: 'a',
        type: 'GENERATION',
        startTime: at(6),
        endTime: at(7),
        model: 'm-1',
        input: MESSAGES.slice(0, 3),
        output: 'Done.',
        usage: { promptTokens: 20, completionTokens: 5 },
      },
    ],
  };

  test('one trajectory a trace, however exported', async () => {
    for (const value of [[trace], { data: [trace] }, trace]) {
      const [line] = await imported('langfuse', JSON.stringify(value), ['--case-attribute', 'case']);
      expect(line).toMatchObject({
        caseId: 'refund-1',
        trial: 2,
        trajectory: {
          answer: 'Done.',
          iterations: 2,
          model: 'm-1',
          usage: { input: 30, output: 10, total: 40, cached: null },
          tool_calls: [{ tool: 'get_order', args: { order: 88 }, result: { status: 'paid' } }],
          sub_agents: [
            {
              name: 'helper',
              input: 'check',
              output: 'fine',
              tool_calls: [{ tool: 'look', error: { message: 'gone' } }],
            },
          ],
        },
      });
      const call = line?.trajectory.tool_calls[0];
      expect((call?.ended_at_ms ?? 0) - (call?.started_at_ms ?? 0)).toBe(2_000);
    }
    expect(await imported('langfuse', JSON.stringify(trace))).toMatchObject([{ caseId: 'trace-1' }]);
  });

  test('what is no trace is said', async () => {
    await expect(imported('langfuse', '[{"id": "x"}]')).rejects.toThrow('expected traces with their observations');
  });
});

test('what was imported is scored', async () => {
  const cwd = await folderWith({
    'in.json': JSON.stringify({ caseId: 'a', messages: MESSAGES }),
    'cases.jsonl': '{"id":"a","input":"x","expected":{"calls":[{"tool":"get_order","args":{"order":88}}]}}\n',
  });
  await runCommand(registerImport, ['import', 'trajectories', 'in.json', '--from', 'openai', '--out', 'o.jsonl'], {
    cwd,
  });
  const run = await runCommand(registerScore, ['score', '--cases', 'cases.jsonl', '--trajectories', 'o.jsonl'], {
    cwd,
  });
  const { scores } = JSON.parse(run.stdout) as { scores: { scorer: string; value: number }[] };
  expect(scores.find((score) => score.scorer === 'tool_score')?.value).toBe(1);
});

const count = fc.option(fc.nat(), { nil: null });
const usage = fc
  .record({ input: count, cached: count, output: count, reasoning: count, total: count })
  // The total is the sum where the parts are known: a recorded null would be filled in.
  .map((one) => ({
    ...one,
    total: one.total ?? (one.input === null || one.output === null ? null : one.input + one.output),
  }));
const object = fc.dictionary(fc.string(), fc.jsonValue()) as fc.Arbitrary<ToolCall['args'] & object>;
const text = fc.string({ unit: 'binary' });
const orNull = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(arbitrary, { nil: null });
const call = fc.record({
  turn: fc.nat(9),
  id: orNull(text),
  // A call without a name is read as malformed.
  tool: fc.string({ unit: 'binary', minLength: 1 }),
  args: object,
  raw_arguments: orNull(text),
  malformed: orNull(text),
  result: fc.jsonValue(),
  error: orNull(fc.record({ kind: text, message: text })),
  approved: orNull(fc.boolean()),
  started_at_ms: fc.nat(),
  ended_at_ms: fc.nat(),
});
const calls = fc.array(call, { maxLength: 3 }).map((all) => all.map((one, index) => ({ index, ...one })));
const status = fc.constantFrom(...FINAL_STATUSES);
const message = fc.record({ role: fc.constantFrom('user', 'assistant', 'tool', 'system'), content: orNull(text) });
const part = fc.oneof(
  fc.record({ kind: fc.constant('text' as const), text, media_type: text }),
  fc.record({ kind: fc.constant('data' as const), data: object, media_type: text }),
  fc.record({
    kind: fc.constant('file' as const),
    filename: orNull(text),
    media_type: text,
    url: orNull(text),
    bytes: count,
    sha256: orNull(text),
    base64: orNull(text),
  }),
);
const trajectory = fc.record(
  {
    version: fc.constant(1 as const),
    final_status: status,
    final_status_reason: orNull(text),
    answer: orNull(text),
    messages: fc.array(message, { maxLength: 3 }),
    tool_calls: calls,
    available_tools: fc.array(fc.record({ name: text, description: text, parameters: object }), { maxLength: 2 }),
    iterations: fc.nat(),
    model_calls: fc.nat(),
    usage,
    sub_agents: fc.array(
      fc.record(
        {
          name: text,
          input: text,
          output: orNull(text),
          final_status: status,
          tool_calls: calls,
          usage,
          id: text,
          parent: orNull(text),
          dispatch_call_index: orNull(fc.nat()),
          messages: fc.array(message, { maxLength: 2 }),
          allowed_tools: orNull(fc.array(text, { maxLength: 2 })),
          passed_context: fc.array(text, { maxLength: 2 }),
          timeout_ms: orNull(fc.nat()),
          timed_out: fc.boolean(),
          blocked: orNull(text),
          initial_state: orNull(object),
          end_state: orNull(object),
          started_at_ms: fc.nat(),
          ended_at_ms: fc.nat(),
        },
        { requiredKeys: ['name', 'input', 'output', 'final_status', 'tool_calls', 'usage'] },
      ),
      { maxLength: 2 },
    ),
    prompt_segments: orNull(fc.array(fc.record({ name: text, text }), { maxLength: 2 })),
    artifacts: fc.array(
      fc.record({ id: text, name: orNull(text), description: orNull(text), parts: fc.array(part, { maxLength: 2 }) }),
      { maxLength: 2 },
    ),
    end_state: orNull(object),
    unmatched_calls: fc.array(fc.record({ index: fc.nat(), tool: text }), { maxLength: 2 }),
    plan: orNull(fc.array(text, { maxLength: 2 })),
    retrieved_doc_ids: orNull(fc.array(text, { maxLength: 2 })),
    model: orNull(text),
    stderr: text,
    time_to_first_token_ms: count,
    approval_wait_ms: fc.nat(),
    started_at_ms: fc.nat(),
    ended_at_ms: fc.nat(),
  },
  {
    requiredKeys: [
      'version',
      'final_status',
      'final_status_reason',
      'answer',
      'messages',
      'tool_calls',
      'available_tools',
      'iterations',
      'model_calls',
      'usage',
      'sub_agents',
      'end_state',
      'unmatched_calls',
      'plan',
      'retrieved_doc_ids',
      'model',
      'time_to_first_token_ms',
      'approval_wait_ms',
      'started_at_ms',
      'ended_at_ms',
    ],
  },
);

test('import(export(x)) = x for every trajectory', () => {
  fc.assert(
    fc.property(trajectory, (x) => {
      const line = JSON.stringify({ caseId: 'c', trial: 1, trajectory: x });
      const parsed = parseJson(line);
      if (!parsed.ok) throw new Error(parsed.error);
      const read = trajectoryFromRecord(parsed.value as never, { readToolCall });
      if (!read.ok) throw new Error(read.problem);
      // As JSON is read here: -0 is 0, and an integer beyond a double's is its digits, as agents' calls are read too.
      expect(parseJson(JSON.stringify(read.trajectory))).toEqual({
        ok: true,
        value: (parsed.value as { trajectory: Json }).trajectory,
      });
    }),
    { numRuns: 300 },
  );
});
