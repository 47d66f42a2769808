import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { registerImport } from '../../../src/commands/suites/import.ts';
import { InputError, UserError } from '../../../src/core/errors.ts';
import type { Json } from '../../../src/core/json.ts';
import { folderWith, problemsOf } from '../datasets/temporary-folder.ts';
import { runCommand } from './command-harness.ts';

const CALL = { id: 'c1', type: 'function', function: { name: 'get_order', arguments: '{"order":88}' } };
const span = (id: string, kind: string, more: object): object => ({
  traceId: 't1',
  spanId: id,
  parentSpanId: id === 's0' ? '' : 's0',
  name: kind,
  startTimeUnixNano: '1000000',
  endTimeUnixNano: '2000000',
  attributes: [
    { key: 'gen_ai.operation.name', value: { stringValue: kind } },
    ...Object.entries(more).map(([key, value]) => ({
      key,
      value: typeof value === 'number' ? { intValue: value } : { stringValue: value as string },
    })),
  ],
});
interface Seed {
  args: string[];
  doc: unknown;
  /** A second file. */
  answers?: unknown;
}

const SEEDS: Record<string, Seed> = {
  tau2: {
    args: ['tau2', 'in.json', '--out', 'out'],
    doc: [
      {
        id: '0',
        user_scenario: {
          persona: 'p',
          instructions: {
            domain: 'd',
            reason_for_call: 'r',
            known_info: 'k',
            unknown_info: null,
            task_instructions: 't',
          },
        },
        initial_state: null,
        evaluation_criteria: {
          actions: [{ action_id: 'a', name: 'f', arguments: { a: 1, b: [1, { c: 2 }] }, compare_args: ['a'] }],
          communicate_info: ['x'],
          nl_assertions: ['y'],
          reward_basis: ['DB'],
        },
      },
    ],
  },
  bfcl: {
    args: ['bfcl', '--questions', 'in.jsonl', '--answers', 'a.jsonl', '--out', 'out'],
    doc: {
      id: 'simple_0',
      question: [[{ role: 'user', content: 'Area?' }]],
      function: [
        {
          name: 'geo.area',
          description: 'd',
          parameters: {
            type: 'dict',
            properties: { base: { type: 'float', enum: [1], items: { type: 'tuple' } } },
            required: ['base'],
          },
        },
      ],
    },
    answers: { id: 'simple_0', ground_truth: [{ 'geo.area': { base: [10], unit: ['units', ''], o: [{ x: [1] }] } }] },
  },
  promptfoo: {
    args: ['promptfoo', 'in.json', '--out', 'out'],
    doc: {
      description: 'd',
      providers: ['x'],
      prompts: ['T {{a}}', { raw: 'R {{a}}', label: 'l' }],
      defaultTest: { assert: [{ type: 'latency', threshold: 5 }], vars: { b: 1 }, options: {} },
      tests: [
        {
          description: 'g',
          vars: { a: 'x', n: 1 },
          assert: [
            { type: 'contains', value: 'b' },
            { type: 'contains-any', value: ['a', 'b'] },
            { type: 'regex', value: '^a' },
            { type: 'cost', threshold: 0.1 },
            { type: 'llm-rubric', value: 'nice' },
            { type: 'trajectory:tool-used', value: ['t'] },
            { type: 'equals', value: 'x' },
            { type: 'assert-set', assert: [] },
          ],
          options: { transform: 'x' },
          threshold: 1,
          metadata: { a: 1 },
        },
      ],
    },
  },
  openai: {
    args: ['trajectories', 'in.json', '--from', 'openai', '--out', 'out.jsonl'],
    doc: [
      {
        caseId: 'a',
        trial: 1,
        messages: [
          { role: 'user', content: 'q' },
          { role: 'assistant', content: null, tool_calls: [CALL] },
          { role: 'tool', tool_call_id: 'c1', content: 'paid' },
          { role: 'assistant', content: [{ type: 'text', text: 'Done' }] },
        ],
        usage: { input: 1 },
        tools: [{ type: 'function', function: { name: 'f' } }],
        answer: 'x',
        iterations: 1,
        final_status: 'COMPLETED',
      },
      {
        custom_id: 'b',
        request: { messages: [{ role: 'user', content: 'q' }], tools: [{ function: { name: 'f' } }] },
        response: {
          body: {
            model: 'm',
            choices: [{ message: { role: 'assistant', content: 'Done.' } }],
            usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
          },
        },
      },
    ],
  },
  langfuse: {
    args: ['trajectories', 'in.json', '--from', 'langfuse', '--out', 'out.jsonl'],
    doc: [
      {
        id: 't',
        name: 'n',
        input: 'q',
        output: 'a',
        metadata: { 'assay.case_id': 'c' },
        timestamp: '2026-01-01T00:00:00Z',
        observations: [
          {
            id: 'o',
            type: 'GENERATION',
            name: 'g',
            startTime: '2026-01-01T00:00:00Z',
            endTime: '2026-01-01T00:00:01Z',
            model: 'm',
            input: [{ role: 'user', content: 'q' }],
            output: { role: 'assistant', content: 'a', tool_calls: [CALL] },
            usage: { input: 1, output: 2, total: 3 },
            usageDetails: { input: 1 },
            parentObservationId: null,
          },
          {
            id: 'p',
            type: 'TOOL',
            name: 'get_order',
            input: { order: 88 },
            output: 'paid',
            startTime: '2026-01-01T00:00:02Z',
            endTime: '2026-01-01T00:00:03Z',
            parentObservationId: 'o',
          },
        ],
      },
    ],
  },
  otel: {
    args: ['trajectories', 'in.json', '--from', 'otel', '--out', 'out.jsonl'],
    doc: {
      resourceSpans: [
        {
          scopeSpans: [
            {
              spans: [
                span('s0', 'invoke_agent', { 'gen_ai.agent.name': 'a', 'assay.case_id': 'c' }),
                span('s1', 'chat', {
                  'gen_ai.request.model': 'm',
                  'gen_ai.usage.input_tokens': 3,
                  'gen_ai.usage.output_tokens': 4,
                  'gen_ai.input.messages': JSON.stringify([{ role: 'user', parts: [{ type: 'text', content: 'q' }] }]),
                  'gen_ai.output.messages': JSON.stringify([
                    {
                      role: 'assistant',
                      parts: [
                        { type: 'text', content: 'a' },
                        { type: 'tool_call', id: 'c1', name: 'f', arguments: { a: 1 } },
                      ],
                      finish_reason: 'stop',
                    },
                  ]),
                }),
                span('s2', 'execute_tool', { 'gen_ai.tool.name': 'f', 'gen_ai.tool.call.id': 'c1' }),
              ],
            },
          ],
        },
      ],
    },
  },
};

/** Stands for 1e400, which JavaScript cannot write. */
const HUGE = '@huge@';
const WRONG = [null, 'x', [], { a: null }, HUGE];

type Steps = (string | number)[];

function stepsOf(value: unknown, steps: Steps = []): Steps[] {
  if (value === null || typeof value !== 'object') return [steps];
  const inner = Object.entries(value).flatMap(([key, part]) =>
    stepsOf(part, [...steps, Array.isArray(value) ? Number(key) : key]),
  );
  return [steps, ...inner];
}

/** The document with something wrong at one place, for every place and wrong value. */
function mutants(document: unknown): { text: string; what: string }[] {
  return stepsOf(document).flatMap((steps) =>
    WRONG.map((wrong) => {
      const copy = structuredClone({ document }) as unknown as Record<string | number, Json>;
      const keys = ['document', ...steps];
      const holder = keys.slice(0, -1).reduce((at, key) => at[key] as unknown as typeof copy, copy);
      holder[keys.at(-1) ?? ''] = wrong;
      const text = JSON.stringify(copy['document']).replaceAll(JSON.stringify(HUGE), '1e400');
      return { text, what: `${steps.join('.')} = ${JSON.stringify(wrong)}` };
    }),
  );
}

/** What is wrong with how an import ended; null: it is well told, or there was nothing to tell. */
function flawOf(error: unknown): string | null {
  if (!(error instanceof UserError)) return `not told: ${String(error)}`;
  if (/Cannot |undefined|not a function|not iterable|\[object/.test(error.message)) return error.message;
  const placed =
    !(error instanceof InputError) ||
    error.problems.every(({ line, message }) => line > 0 || message.startsWith('no cases'));
  return placed ? null : `without a line: ${error.message}`;
}

describe('wrong values at every place', () => {
  test.each(Object.entries(SEEDS))('%s: imported, or refused with a line and what was expected', async (_, seed) => {
    const { args, doc, answers } = seed;
    const own = args.includes('in.jsonl') ? 'in.jsonl' : 'in.json';
    const cwd = await folderWith({ [own]: JSON.stringify(doc), 'a.jsonl': JSON.stringify(answers ?? {}) });
    const flaws: string[] = [];
    const attack = async (file: string, original: unknown): Promise<void> => {
      for (const { text, what } of mutants(original)) {
        writeFileSync(path.join(cwd, file), text);
        const flaw = await runCommand(registerImport, ['import', ...args, '--force'], { cwd }).then(() => null, flawOf);
        if (flaw !== null) flaws.push(`${file}: ${what}: ${flaw}`);
      }
      writeFileSync(path.join(cwd, file), JSON.stringify(original));
    };
    await attack(own, doc);
    if (answers !== undefined) await attack('a.jsonl', answers);
    expect(flaws).toEqual([]);
  });
});

describe('what would be refused after the import is refused by it', () => {
  const twice = (value: unknown): string => `${JSON.stringify(value)}\n`.repeat(2);
  const BFCL = ['import', 'bfcl', '--questions', 'q.jsonl', '--answers', 'a.jsonl', '--out', 'out'];

  test('an id that is there twice: both places', async () => {
    const { tau2, bfcl } = SEEDS as { tau2: Seed; bfcl: Seed };
    const [task] = tau2.doc as unknown[];
    const cwd = await folderWith({
      'q.jsonl': twice(bfcl.doc),
      'a.jsonl': twice(bfcl.answers),
      't.json': `[${JSON.stringify(task)},\n${JSON.stringify(task)}]`,
    });
    expect(await problemsOf(runCommand(registerImport, BFCL, { cwd }))).toMatchObject([
      { file: 'a.jsonl', line: 2, message: expect.stringContaining('of the ground truth at a.jsonl:1:') as string },
      { file: 'q.jsonl', line: 2, message: expect.stringContaining('of the question at q.jsonl:1:') as string },
    ]);
    const tasks = runCommand(registerImport, ['import', 'tau2', 't.json', '--out', 'out'], { cwd });
    expect(await problemsOf(tasks)).toMatchObject([
      { file: 't.json', line: 2, message: 'duplicate id "0"; it is already the id of the task at t.json:1:8' },
    ]);
  });

  test('bfcl: a line that is no question, or has no id, is not blamed on the answers', async () => {
    const cwd = await folderWith({ 'q.jsonl': '42\n{"question": []}\n', 'a.jsonl': '' });
    expect((await problemsOf(runCommand(registerImport, BFCL, { cwd }))).map(({ message }) => message)).toEqual([
      'expected {"id", "question", "function"}, got number 42',
      'id: expected text',
    ]);
  });
});

test('D3: trajectories as JSON lines: no bound on the file, CR alone ends a line, a long line is refused with its number', async () => {
  const record = {
    caseId: 'a',
    messages: [
      { role: 'user', content: 'q' },
      { role: 'assistant', content: 'x' },
    ],
  };
  const padded = `${JSON.stringify({ ...record, pad: 'x'.repeat(15_000_000) })}\n`;
  const cwd = await folderWith({
    'large.jsonl': padded.repeat(5),
    'cr.jsonl': `${JSON.stringify(record)}\r${JSON.stringify(record)}`,
    'line.jsonl': `${JSON.stringify(record)}\n${JSON.stringify({ ...record, pad: 'x'.repeat(17_000_000) })}\n`,
  });
  const load = (file: string): Promise<{ stdout: string }> =>
    runCommand(registerImport, ['import', 'trajectories', file, '--from', 'openai', '--out', `out-${file}`], { cwd });
  expect((await load('large.jsonl')).stdout).toContain('5 trajectories');
  expect((await load('cr.jsonl')).stdout).toContain('2 trajectories');
  expect(await problemsOf(load('line.jsonl'))).toMatchObject([
    { line: 2, message: expect.stringContaining('16 MB') as string },
  ]);
});
