import path from 'node:path';
import { expect, test } from 'vitest';
import { registerLint } from '../../../src/commands/suites/lint.ts';
import { folderWith } from '../datasets/temporary-folder.ts';
import { runCommand } from './command-harness.ts';

const PLAIN = 'name: s\nkind: deep\ndatasets: [cases.yaml]\nagent: {type: openai, model: m}\n';
/** A forbidden tool decides every case. */
const SUITE = `${PLAIN}safety: {forbidden_tools: [rm]}\n`;

test('a sound suite: exit 0', async () => {
  const cwd = await folderWith({ 'suite.yaml': SUITE, 'cases.yaml': '- {id: a, input: x}\n' });
  expect(await runCommand(registerLint, ['lint'], { cwd })).toEqual({
    stdout: '1 case, no problems\n',
    stderr: '',
    exitCode: 0,
  });
});

test('warnings are shown and exit 0; the list of vague words can be replaced', async () => {
  const cwd = await folderWith({
    'suite.yaml': SUITE,
    'cases.yaml': '- {id: a, input: x, rubric: a nice and good answer}\n',
  });
  const run = await runCommand(registerLint, ['lint', 'suite.yaml', '--vague-words', 'answer'], { cwd });
  expect(run.exitCode).toBe(0);
  expect(run.stdout).toContain('cases.yaml:1:45: warning: ');
  expect(run.stdout).toContain('"answer" cannot be checked');
  expect(run.stdout).toContain('1 case, 0 errors, 1 warning\n');
  expect((await runCommand(registerLint, ['lint', 'suite.yaml'], { cwd })).stdout).toContain('2 warnings');
});

test('the suite has its own list of vague words, the flag goes before it', async () => {
  const cases = '- {id: a, input: x, rubric: a swift answer, expected: {criteria: 语气友善且合理}}\n';
  const cwd = await folderWith({ 'suite.yaml': `${SUITE}vague_words: [swift, 友善]\n`, 'cases.yaml': cases });
  const run = await runCommand(registerLint, ['lint', 'suite.yaml'], { cwd });
  expect(run.exitCode).toBe(0);
  expect(run.stdout).toMatch(/cases\.yaml:1:31: warning: .*"swift" cannot be checked/);
  expect(run.stdout).toMatch(/cases\.yaml:1:68: warning: .*"友善" cannot be checked/);
  expect(run.stdout).not.toContain('"合理"');
  const flag = await runCommand(registerLint, ['lint', 'suite.yaml', '--vague-words', '合理'], { cwd });
  expect(flag.stdout).toContain('"合理" cannot be checked');
  expect(flag.stdout).toContain('1 case, 0 errors, 1 warning\n');
  const none = await folderWith({ 'suite.yaml': `${SUITE}vague_words: []\n`, 'cases.yaml': cases });
  expect((await runCommand(registerLint, ['lint', 'suite.yaml'], { cwd: none })).stdout).toBe('1 case, no problems\n');
});

test('errors: all of them as file:line:column, exit 2; with --json as data', async () => {
  const cwd = await folderWith({
    'suite.yaml': `${SUITE}judge: {model: j, prompts: prompts}\noffline_model: model.yaml\n`,
    'cases.yaml': '- {id: a, input: x}\n',
    'prompts/task_completion.txt': 'x\n=====\n{{no_such_variable}}\n',
    'model.yaml': 'rules: [{when: {user_contans: x}, reply: {content: y}}]\n',
  });
  const run = await runCommand(registerLint, ['lint', 'suite.yaml'], { cwd });
  expect(run.exitCode).toBe(2);
  expect(run.stdout).toContain('no_such_variable');
  expect(run.stdout).toContain('model.yaml');
  const json = await runCommand(registerLint, ['lint', 'suite.yaml', '--json'], { cwd });
  expect(json.exitCode).toBe(2);
  const data = JSON.parse(json.stdout) as { errors: number; problems: { file: string; line: number }[] };
  expect(data.errors).toBe(data.problems.length);
  expect(data.errors).toBeGreaterThanOrEqual(2);
});

test('a matcher only the scorer can judge, such as a date that is none, is an error', async () => {
  const cases = '- {id: a, input: x, expected: {calls: [{tool: f, args: {d: {date: {value: not-a-date}}}}]}}\n';
  const cwd = await folderWith({ 'suite.yaml': SUITE, 'cases.yaml': cases });
  const run = await runCommand(registerLint, ['lint', path.join(cwd, 'suite.yaml')], { cwd });
  expect(run.exitCode).toBe(2);
  expect(run.stdout).toMatch(/cases\.yaml:1:8: error: case "a": expected arguments: d: /);
});

const MODULE_SUITE = 'name: s\nkind: deep\ndatasets: [cases.yaml]\nagent: {type: module, path: PATH}\n';

test.each([
  ['a.mjs', 'export default async (input) => {\n  return input +;\n};\n', /SyntaxError: .*\(a\.mjs:2\)/],
  ['a.ts', 'export default (input: string) => {\n  return input +;\n};\n', /SyntaxError: .*\(a\.ts:2\)/],
  [
    'a.mjs',
    "import { x } from './b.mjs';\nexport default () => x;\n",
    /does not provide an export named 'x'.*\(a\.mjs:1\)/,
  ],
  ['a.mjs', "import './gone.mjs';\nexport default () => 1;\n", /Cannot find module .*gone\.mjs/],
  ['a.mjs', 'export const agent = () => 1;\n', /expected a function as export default; the module exports agent/],
  ['a.mjs', "export default () => 1;\nthrow new Error('no key');\n", /Error: no key \(a\.mjs:2:7\)/],
  ['a.mjs', 'process.exit(3);\n', /exited with code 3/],
])('a module that does not load is an error that says why: %s %j', async (file, text, expected) => {
  const cwd = await folderWith({
    'suite.yaml': MODULE_SUITE.replace('PATH', file),
    'cases.yaml': '- {id: a, input: x}\n',
    [file]: text,
    'b.mjs': 'export const y = 1;\n',
  });
  const run = await runCommand(registerLint, ['lint'], { cwd });
  expect(run.exitCode).toBe(2);
  expect(run.stdout).toMatch(expected);
  expect(run.stdout).toContain(`agent module ${path.join(cwd, file)}`);
});

test('a module that loads: no problem, and its function is not called', async () => {
  const cwd = await folderWith({
    'suite.yaml': MODULE_SUITE.replace('PATH', 'a.ts'),
    'cases.yaml': '- {id: a, input: x, expected: {answer_contains: [y]}}\n',
    'a.ts': 'export default (input: string): string => { throw new Error(input); };\n',
  });
  expect(await runCommand(registerLint, ['lint'], { cwd })).toMatchObject({
    exitCode: 0,
    stdout: '1 case, no problems\n',
  });
});

test('a suite that is not there: exit 2', async () => {
  const cwd = await folderWith({});
  const run = await runCommand(registerLint, ['lint', 'nope.yaml'], { cwd });
  expect(run).toMatchObject({
    exitCode: 2,
    stdout: expect.stringContaining('nope.yaml: error: no such file; name a suite file'),
  });
});

test('cases that nothing decides are warned for once, at the first of them', async () => {
  const cases = [
    '- {id: a, input: x, expected: {calls: [{tool: f, args: {}}], match: strict}}',
    '- {id: b, input: x, expected: {calls: [{tool: f, args: {}}]}}',
    '- {id: c, input: x, expected: {answer: y}}',
    '- {id: d, input: x, expected: {max_tool_calls: 3}}',
  ];
  const lint = async (suite: string): Promise<string> => {
    const cwd = await folderWith({ 'suite.yaml': suite, 'cases.yaml': `${cases.join('\n')}\n` });
    return (await runCommand(registerLint, ['lint', 'suite.yaml'], { cwd })).stdout;
  };
  expect(await lint(PLAIN)).toMatch(
    /^cases\.yaml:2:\d+: warning: case "b" and 1 more: no score decides.*match.*\n4 cases, 0 errors, 1 warning\n$/,
  );
  expect(await lint(`${PLAIN}judge: {model: j}\n`)).toMatch(/case "b": no score decides/);
  expect(await lint(`${PLAIN}decides: [tool_score]\n`)).toMatch(/case "c" and 1 more: no score decides/);
  expect(await lint(SUITE)).toBe('4 cases, no problems\n');
});
