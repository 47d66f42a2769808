import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { registerImport } from '../../../src/commands/suites/import.ts';
import { loadSuite } from '../../../src/datasets/load-suite.ts';
import { folderWith, problemsOf } from '../datasets/temporary-folder.ts';
import { runCommand } from './command-harness.ts';

const PROMPTFOO = `
description: shop
providers: [openai:gpt-5-mini]
prompts:
  - 'Translate {{ text }} to {{language}}.'
  - file://prompt.txt
defaultTest:
  assert: [{type: latency, threshold: 2000.5}]
tests:
  - description: greeting
    vars: {text: 'hello {{language}}', language: French}
    assert:
      - {type: contains, value: bon}
      - {type: icontains, value: 'JOUR. (now)'}
      - {type: not-contains, value: hello}
      - {type: contains-any, value: [a.b, c]}
      - {type: regex, value: '^\\w+$'}
      - {type: starts-with, value: Bon}
      - {type: is-json, value: {type: object}}
      - {type: cost, threshold: 0.01}
      - {type: llm-rubric, value: 'Is polite in {{language}}'}
      - {type: trajectory:tool-used, value: [translate]}
      - {type: regex, value: '(?=look)ahead'}
      - {type: javascript, value: output.length < 9}
      - {type: contains, value: x, weight: 3}
      - {type: similar, value: y, threshold: 0.8}
      - {type: not-icontains, value: z}
      - {type: assert-set, assert: [{type: equals, value: 1}]}
  - vars: {text: b, language: German}
    assert: [{type: equals, value: 'Guten {{text}}'}]
    options: {transform: output.trim()}
  - vars: {text: c}
  - vars: {text: [d, e], language: German}
  - file://more.yaml
`;

test('promptfoo: what has an equal here is imported, everything else is listed', async () => {
  const cwd = await folderWith({ 'promptfooconfig.yaml': PROMPTFOO });
  const run = await runCommand(
    registerImport,
    ['import', 'promptfoo', 'promptfooconfig.yaml', '--out', 'out', '--json'],
    {
      cwd,
    },
  );
  const { cases, suite, problems } = await loadSuite('out/suite.yaml', { env: {}, cwd });
  expect(problems.filter((problem) => problem.severity === 'error')).toEqual([]);
  expect(suite.judge?.dimensions).toEqual(['task_completion']);
  expect(cases.map(({ id, input }) => [id, input])).toEqual([
    // What a variable holds is data: it is not filled again.
    ['greeting', 'Translate hello {{language}} to French.'],
    ['test-2', 'Translate b to German.'],
  ]);
  expect(cases[0]?.expected).toEqual({
    max_latency_ms: 2000,
    answer_contains: ['bon', 'x'],
    answer_not_contains: ['hello'],
    answer_matches: ['(?i)JOUR\\. \\(now\\)', '(?:a\\.b|c)', '^\\w+$', '\\ABon'],
    answer_json: { schema: { type: 'object' } },
    max_cost: 0.01,
    must_call: ['translate'],
  });
  expect(cases[0]?.rubric).toBe('Is polite in French');
  expect(cases[1]?.expected).toMatchObject({ answer_equals: 'Guten b' });
  const { notImported } = JSON.parse(run.stdout) as { notImported: { test: number | null; what: string }[] };
  expect(notImported).toEqual([
    { test: null, what: 'providers of the file' },
    { test: null, what: 'prompt "file://prompt.txt": it is in another file' },
    { test: 1, what: 'assert regex: its pattern needs look-around or back references, or is none' },
    { test: 1, what: 'assert javascript: has no equal here' },
    { test: 1, what: 'assert contains: its weight' },
    { test: 1, what: 'assert similar: has no equal here' },
    { test: 1, what: 'assert not-icontains: has no equal here' },
    { test: 1, what: 'assert assert-set: has no equal here' },
    { test: 2, what: 'options of the test' },
    { test: 3, what: 'the whole test with prompt 1: it needs more than its variables' },
    { test: 4, what: 'the whole test with prompt 1: it needs more than its variables' },
    { test: 5, what: 'the whole test: it is in another file' },
  ]);
});

test('promptfoo: several prompts, conversations and bad files', async () => {
  const cwd = await folderWith({
    'a.yaml': `prompts: ['{{q}}', '[{"role":"system","content":"Be {{mood}}"},{"role":"user","content":"{{q}}"}]']
tests: [{vars: {q: 'a "b"', mood: kind}}]`,
    'b.yaml': 'tests: []',
    'c.yaml': 'prompts: [x]\ntests: &a [*a]',
  });
  const run = await runCommand(registerImport, ['import', 'promptfoo', 'a.yaml', '--out', 'out'], { cwd });
  expect(run.stdout).toContain('2 cases → out/suite.yaml');
  const { cases } = await loadSuite('out/suite.yaml', { env: {}, cwd });
  expect(cases.map(({ id, input, messages }) => ({ id, input, messages }))).toEqual([
    { id: 'test-1 (prompt 1)', input: 'a "b"', messages: undefined },
    {
      id: 'test-1 (prompt 2)',
      input: undefined,
      messages: [
        { role: 'system', content: 'Be kind' },
        { role: 'user', content: 'a "b"' },
      ],
    },
  ]);
  for (const file of ['b.yaml', 'c.yaml']) {
    const problems = await problemsOf(
      runCommand(registerImport, ['import', 'promptfoo', file, '--out', 'no'], { cwd }),
    );
    expect(problems[0]?.file).toBe(file);
  }
  expect(existsSync(path.join(cwd, 'no'))).toBe(false);
});

test('tau2: a task of its own form and of the flat one', async () => {
  const own = {
    id: 7,
    description: { purpose: 'refund' },
    user_scenario: { instructions: { domain: 'retail', reason_for_call: 'I want a refund.', known_info: 'Order 88.' } },
    evaluation_criteria: {
      actions: [
        { name: 'get_order', arguments: { id: 88 }, requestor: 'assistant' },
        { name: 'refund', arguments: { id: 88, note: 'x' }, compare_args: ['id'] },
        { name: 'transfer', arguments: { summary: 's' }, compare_args: [] },
        { name: 'toggle', arguments: {}, requestor: 'user' },
      ],
      nl_assertions: ['Is polite'],
      communicate_info: ['42'],
      reward_basis: ['DB', 'ACTION'],
    },
  };
  const cwd = await folderWith({ 'tasks.json': JSON.stringify([own]), 'bad.json': '[{"id":"a"}]' });
  const run = await runCommand(registerImport, ['import', 'tau2', 'tasks.json', '--out', 'out', '--json'], { cwd });
  const { cases, suite } = await loadSuite('out/suite.yaml', { env: {}, cwd });
  expect(cases[0]).toEqual({
    id: '7',
    input: 'I want a refund.\nOrder 88.',
    expected: {
      calls: [
        { tool: 'get_order', args: { id: 88 } },
        { tool: 'refund', args: { id: 88 } },
        { tool: 'transfer', args: null },
      ],
      match: 'superset',
      args: { refund: 'superset' },
    },
    rubric: 'Is polite\nThe user is told: 42',
    category: 'tau2',
    tags: ['tau2'],
    metadata: { purpose: 'refund', basis: ['DB', 'ACTION'] },
  });
  expect(suite.tools.map((tool) => tool.name)).toEqual(['get_order', 'refund', 'transfer']);
  expect((JSON.parse(run.stdout) as { notImported: unknown[] }).notImported).toEqual([
    { test: 1, what: "action toggle: it is the user's, not the agent's" },
    { test: 1, what: "DB: the state of tau2's environment" },
  ]);
  const problems = await problemsOf(runCommand(registerImport, ['import', 'tau2', 'bad.json', '--out', 'no'], { cwd }));
  expect(problems.map(({ line, message }) => [line, message])).toEqual([
    [1, 'user scenario: expected a text or {reason_for_call, …}'],
  ]);
});

const TASKS = path.resolve(
  import.meta.dirname,
  '../../..',
  process.env['ASSAY_CASES_DIR'] ?? '../shared/cases',
  'tau2_tasks.jsonl',
);
const present = existsSync(TASKS);
if (!present && process.env['CI'] === undefined) console.warn(`SKIPPED: no ${TASKS}; set ASSAY_CASES_DIR`);

describe.skipIf(!present && process.env['CI'] === undefined)('the public tasks of tau2', () => {
  test('all become cases of a suite that loads', async () => {
    const cwd = await folderWith({});
    await runCommand(registerImport, ['import', 'tau2', TASKS, '--out', 'out'], { cwd });
    const { cases, problems } = await loadSuite('out/suite.yaml', { env: {}, cwd });
    expect(problems.filter((problem) => problem.severity === 'error')).toEqual([]);
    expect(cases).toHaveLength(readFileSync(TASKS, 'utf8').trim().split('\n').length);
    expect(cases.flatMap((one) => one.expected.calls ?? []).length).toBeGreaterThan(400);
  });
});
