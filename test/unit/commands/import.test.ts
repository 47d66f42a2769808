import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { registerImport } from '../../../src/commands/suites/import.ts';
import { loadSuite } from '../../../src/datasets/load-suite.ts';
import { folderWith, problemsOf } from '../datasets/temporary-folder.ts';
import { runCommand } from './command-harness.ts';

const QUESTIONS = [
  {
    id: 'simple_0',
    question: [[{ role: 'user', content: 'Area?' }]],
    function: [
      {
        name: 'geo.area',
        description: 'd',
        parameters: { type: 'dict', properties: { base: { type: 'float' } }, required: ['base'] },
      },
    ],
  },
  {
    id: 'simple_1',
    question: [[{ role: 'user', content: 'Again?' }]],
    function: [{ name: 'f', parameters: { type: 'dict', properties: {} } }],
  },
];
const ANSWERS = [
  { id: 'simple_0', ground_truth: [{ 'geo.area': { base: [10], unit: ['units', ''] } }] },
  { id: 'simple_1', ground_truth: [{ f: {} }] },
];
const lines = (records: unknown[]): string => records.map((record) => `${JSON.stringify(record)}\n`).join('');

test('writes a dataset and a suite that load, and says which tool names changed', async () => {
  const cwd = await folderWith({ 'q.json': lines(QUESTIONS), 'a.json': lines(ANSWERS) });
  const args = ['import', 'bfcl', '--questions', 'q.json', '--answers', 'a.json', '--out', 'out'];
  const run = await runCommand(registerImport, args, { cwd });
  expect(run.stdout).toContain('2 cases → out/suite.yaml');
  expect(run.stdout).toContain('1 tool names changed, such as geo.area → geo_area');
  const { suite, cases, problems } = await loadSuite('out/suite.yaml', { env: {}, cwd });
  expect(problems).toEqual([]);
  expect(suite).toMatchObject({
    tool_score: { profile: 'bfcl' },
    limits: { max_iterations: 1 },
    gates_off: ['case_pass_rate'],
  });
  expect(cases[0]?.expected).toEqual({
    calls: [{ tool: 'geo_area', args: { base: 10, unit: { any_of: ['units'], optional: true } } }],
    match: 'strict',
  });
  await expect(runCommand(registerImport, args, { cwd })).rejects.toThrow('out already has cases.jsonl, suite.yaml');
  const json = await runCommand(registerImport, [...args, '--force', '--json', '--limit', '1'], { cwd });
  expect(JSON.parse(json.stdout)).toEqual({
    suite: 'out/suite.yaml',
    dataset: 'out/cases.jsonl',
    cases: 1,
    renamedTools: { 'geo.area': 'geo_area' },
  });
});

test('without answers no call is right', async () => {
  const cwd = await folderWith({ 'q.json': lines(QUESTIONS) });
  await runCommand(registerImport, ['import', 'bfcl', '--questions', 'q.json', '--out', 'out'], { cwd });
  const { cases } = await loadSuite('out/suite.yaml', { env: {}, cwd });
  expect(cases.map((one) => one.expected.calls)).toEqual([[], []]);
});

test('problems of both files, with lines, and nothing written', async () => {
  const cwd = await folderWith({
    'q.json': `${lines(QUESTIONS)}{"id":"x"}\n`,
    'a.json': `${lines(ANSWERS.slice(0, 1))}{"id":1}\n`,
  });
  const args = ['import', 'bfcl', '--questions', 'q.json', '--answers', 'a.json', '--out', 'out'];
  const problems = await problemsOf(runCommand(registerImport, args, { cwd }));
  expect(problems.map((problem) => `${problem.file}:${problem.line}`)).toEqual(['a.json:2', 'q.json:2', 'q.json:3']);
  expect(existsSync(path.join(cwd, 'out'))).toBe(false);
});

const FOLDER = path.resolve(
  import.meta.dirname,
  '../../..',
  process.env['ASSAY_CASES_DIR'] ?? '../shared/cases',
  'bfcl',
);
const present = existsSync(FOLDER);
if (!present && process.env['CI'] === undefined)
  console.warn(`SKIPPED: no BFCL files in ${FOLDER}; set ASSAY_CASES_DIR`);

describe.skipIf(!present && process.env['CI'] === undefined)('the original files', () => {
  test.each([
    ['simple_python', 400],
    ['parallel', 200],
    ['parallel_multiple', 200],
    ['irrelevance', 240],
  ])('%s', async (category, count) => {
    const cwd = await folderWith({});
    const answers = path.join(FOLDER, 'possible_answer', `BFCL_v4_${category}.json`);
    const args = ['import', 'bfcl', '--questions', path.join(FOLDER, `BFCL_v4_${category}.json`), '--out', 'out'];
    await runCommand(registerImport, category === 'irrelevance' ? args : [...args, '--answers', answers], { cwd });
    const { cases, problems } = await loadSuite('out/suite.yaml', { env: {}, cwd });
    expect(problems).toEqual([]);
    expect(cases).toHaveLength(count);
    const written = await readFile(path.join(cwd, 'out/cases.jsonl'), 'utf8');
    expect(written).not.toMatch(/"type":"(dict|float|tuple|any)"/);
  });
});
