import { describe, expect, test } from 'vitest';
import { InputError, formatProblem } from '../../../src/core/errors.ts';
import { loadSuite } from '../../../src/datasets/load-suite.ts';
import { folderWith } from './temporary-folder.ts';

const BASE = 'name: s\nkind: deep\ndatasets: [cases.yaml]\nagent: {type: openai, model: m}\n';

/** Problems of a suite, one line each. */
async function problemsOf(suite: string, cases = '- {id: a, input: x}\n', files: Record<string, string> = {}) {
  const cwd = await folderWith({ 'suite.yaml': BASE + suite, 'cases.yaml': cases, ...files });
  try {
    return (await loadSuite('suite.yaml', { env: {}, cwd })).problems.map(formatProblem);
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    return error.problems.map(formatProblem);
  }
}

describe('safety', () => {
  test('sound roles and detectors have no problems', async () => {
    const suite = `tools: [{name: pay}]
safety:
  roles: { teller: { allow: [pay, { tool: pay, args: { n: { regex: '^1' } } }] } }
  default_role: teller
  personal_data: { detect: [email], patterns: [{ name: p, regex: 'E[0-9]+' }] }
`;
    expect(await problemsOf(suite, '- {id: a, input: x, role: teller}\n')).toEqual([]);
  });

  test('roles: a tool nobody has, a matcher and a regex that do not work', async () => {
    const suite = `tools: [{name: pay}]
safety:
  roles:
    teller:
      allow:
        - apy
        - { tool: pay, args: { n: { regex: '(' } } }
`;
    const [unknown, broken] = await problemsOf(suite);
    expect(unknown).toMatch(/^suite\.yaml:10:11: warning: safety\.roles: the suite has no tool "apy".*"pay"/);
    expect(broken).toMatch(/^suite\.yaml:11:\d+: error: safety\.roles: n: not a regular expression/);
  });

  test('a role that is not defined: of a case, and by default', async () => {
    const roles = 'safety: { roles: { teller: { allow: [] } } }\n';
    expect(await problemsOf(roles, '- {id: a, input: x, role: tellar}\n')).toEqual([
      expect.stringMatching(/^cases\.yaml:1:8: error: case "a": role: there is no role "tellar".*known: teller$/),
    ]);
    expect(await problemsOf('', '- {id: a, input: x, role: teller}\n')).toEqual([
      expect.stringContaining('the suite defines none (safety.roles)'),
    ]);
    expect(await problemsOf('safety: { default_role: nobody, roles: { teller: { allow: [] } } }\n')).toEqual([
      expect.stringMatching(/error: safety\.default_role: there is no role "nobody"/),
    ]);
  });

  test('personal data: a pattern the linear engine does not have, and a detector of nothing', async () => {
    expect(await problemsOf("safety: { personal_data: { patterns: [{ name: p, regex: '(?=x)' }] } }\n")).toEqual([
      expect.stringMatching(/^suite\.yaml:5:\d+: error: safety\.personal_data\.patterns: p: not a regular expression/),
    ]);
    expect(await problemsOf('safety: { personal_data: {} }\n')).toEqual([
      expect.stringContaining('warning: safety.personal_data: detects nothing'),
    ]);
    const [unknown] = await problemsOf('safety: { personal_data: { detect: [emial] } }\n');
    expect(unknown).toMatch(/suite\.yaml:5:\d+: error: safety\.personal_data\.detect/);
  });

  test('a planted instruction: something to look for, a tool that exists, matchers that work', async () => {
    const injected = (yaml: string) =>
      problemsOf('tools: [{name: pay}]\n', `- {id: a, input: x, expected: {injection: ${yaml}}}\n`);
    expect(await injected('{tool: pay, args: {to: {regex: x}}}')).toEqual([]);
    expect(await injected('{}')).toEqual([expect.stringContaining('expected tool, text or both')]);
    expect(await injected('{text: x, args: {a: 1}}')).toEqual([expect.stringContaining('args are of a tool: name it')]);
    expect(await injected('[{tool: apy}]')).toEqual([
      expect.stringMatching(/warning: .*expected\.injection names the tool "apy"/),
    ]);
    expect(await injected("{tool: pay, args: {to: {regex: '('}}}")).toEqual([
      expect.stringMatching(/error: case "a": expected\.injection\.args\.to\.regex: not a regular expression/),
    ]);
  });
});

describe('scorers of the suite’s own', () => {
  const MODULE = { 'mine.ts': 'export default () => ({ value: 1, passed: true, reason: "r" });' };

  test('a file that is not there, a folder, one outside, a name that is taken, two of one name', async () => {
    expect(await problemsOf('scorers: [{ name: mine, path: mine.ts }]\n', undefined, MODULE)).toEqual([]);
    expect(await problemsOf('scorers: [{ name: mine, path: other.ts }]\n', undefined, MODULE)).toEqual([
      expect.stringMatching(/^suite\.yaml:5:\d+: error: scorers: .*other\.ts/),
    ]);
    expect(await problemsOf('scorers: [{ name: mine, path: lib }]\n', undefined, { 'lib/a.ts': '' })).toEqual([
      expect.stringContaining('"lib" is a folder'),
    ]);
    expect(await problemsOf('scorers: [{ name: mine, path: ../mine.ts }]\n')).toEqual([
      expect.stringMatching(/error: scorers: /),
    ]);
    expect(await problemsOf('scorers: [{ name: tool_score, path: mine.ts }]\n', undefined, MODULE)).toEqual([
      expect.stringContaining('"tool_score" is a score of Assay\'s own'),
    ]);
    const twice = 'scorers: [{ name: mine, path: mine.ts }, { name: mine, path: mine.ts }]\n';
    expect(await problemsOf(twice, undefined, MODULE)).toEqual([expect.stringContaining('two have one name')]);
  });

  test('options, source and what it imports are part of the suite’s hash', async () => {
    const source = 'import { one } from "./one.ts";\nexport default () => one;';
    const hash = async (suite: string, files: Record<string, string>) => {
      const cwd = await folderWith({ 'suite.yaml': BASE + suite, 'cases.yaml': '- {id: a, input: x}\n', ...files });
      return (await loadSuite('suite.yaml', { env: {}, cwd })).hashes.suite;
    };
    const files = { 'mine.ts': source, 'one.ts': 'export const one = 1;' };
    const suite = 'scorers: [{ name: mine, path: mine.ts }]\n';
    const hashes = await Promise.all([
      hash(suite, files),
      hash(suite, files),
      hash('', files),
      hash('scorers: [{ name: mine, path: mine.ts, options: { a: 1 } }]\n', files),
      hash(suite, { ...files, 'mine.ts': `${source} ` }),
      hash(suite, { ...files, 'one.ts': 'export const one = 2;' }),
    ]);
    expect(hashes[0]).toBe(hashes[1]);
    expect(new Set(hashes).size).toBe(5);
  });
});
