import { symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { loadSuite } from '../../../src/datasets/load-suite.ts';
import { folderWith, problemsOf } from './temporary-folder.ts';

const CASES = '- {id: a, input: x, expected: {answer_contains: [x]}}\n';

async function problems(agent: string, files: Record<string, string> = {}): Promise<string[]> {
  const cwd = await folderWith({
    'suite.yaml': `name: s\nkind: deep\ndatasets: [cases.yaml]\nagent: ${agent}\n`,
    'cases.yaml': CASES,
    ...files,
  });
  return (await problemsOf(loadSuite('suite.yaml', { env: {}, cwd }))).map((problem) => problem.message);
}

async function hashOf(agent: string, files: Record<string, string> = {}): Promise<string> {
  const cwd = await folderWith({
    'suite.yaml': `name: s\nkind: deep\ndatasets: [cases.yaml]\nagent: ${agent}\n`,
    'cases.yaml': CASES,
    ...files,
  });
  return (await loadSuite('suite.yaml', { env: {}, cwd })).hashes.agent;
}

test.each([
  ['{url: "https://user:pw@host/x"}', /without user name and password/],
  ['{url: "ftp://host"}', /starts with http/],
  ['{url: "https://h", headers: {Authorization: "Bearer x"}}', /a header that carries a secret.*auth_env/],
  ['{url: "https://h", headers: {X-Api-Key: x}}', /a header that carries a secret/],
  ['{url: "https://h", headers: {X-A: "a\\nb: c"}}', /printable ASCII/],
  ['{url: "https://h", auth_env: "sk-123"}', /the name of an environment variable/],
  ['{url: "https://h", api_key: x}', /unknown key "api_key": keys do not belong into files/],
  ['{url: "https://h", response: {answer: answer}}', /expected a JSON pointer/],
  ['{url: "https://h", statuses: {ok: FINE}}', /statuses/],
  ['{url: "https://h", request: {q: "{{inputs}}"}}', /unknown name "\{\{inputs\}\}" \(did you mean "input"\?\)/],
  ['{url: "https://h", poll: {url: /tasks}}', /holds no \{\{id\}\}/],
  ['{url: "https://h", poll: {url: "https://other/{{id}}"}}', /must be on the host of agent.url/],
  ['{command: []}', /expected the program and its arguments/],
  ['{command: python3 agent.py}', /command/],
  ['{command: [./agent.sh]}', /agent.command: ".\/.\/agent.sh"|agent.command/],
  ['{command: [x], cwd: nowhere}', /agent.cwd: "nowhere"/],
  ['{command: [x], cwd: cases.yaml}', /agent.cwd: "cases.yaml" is no folder/],
  ['{trajectories: none.jsonl}', /agent.trajectories: "none.jsonl"/],
])('%s is refused: %s', async (agent, message) => {
  expect(await problems(agent)).toEqual([expect.stringMatching(message)]);
});

test('D8: no file or folder of an agent leads out of the suite’s folder', async () => {
  for (const agent of [
    '{trajectories: ../x.jsonl}',
    '{trajectories: /etc/passwd}',
    '{command: [x], cwd: ..}',
    '{command: [../agent.sh]}',
    '{command: [x], cwd: /}',
  ]) {
    expect(await problems(agent)).toEqual([expect.stringMatching(/leaves the suite's folder|is absolute/)]);
  }
  const cwd = await folderWith({
    'suite.yaml': 'name: s\nkind: deep\ndatasets: [cases.yaml]\nagent: {trajectories: link.jsonl}\n',
    'cases.yaml': CASES,
  });
  await symlink('/etc/passwd', path.join(cwd, 'link.jsonl'));
  const [problem] = await problemsOf(loadSuite('suite.yaml', { env: {}, cwd }));
  expect(problem?.message).toMatch(/is a link that leads out/);
});

test('D8: no file that a command names leads out of the suite’s folder, as program or as argument', async () => {
  const suite = (command: string): string =>
    `name: s\nkind: deep\ndatasets: [cases.yaml]\nagent: {command: [${command}]}\n`;
  const outer = await folderWith({ 'theirs.py': '', 'in/cases.yaml': CASES, 'in/mine.py': '' });
  const cwd = path.join(outer, 'in');
  await symlink(path.join(outer, 'theirs.py'), path.join(cwd, 'link.py'));
  const load = async (command: string, more = ''): Promise<string[]> => {
    await writeFile(path.join(cwd, 'suite.yaml'), suite(command) + more);
    return (await problemsOf(loadSuite('suite.yaml', { env: {}, cwd }))).map(({ message }) => message);
  };
  expect(await load('python3, ../theirs.py')).toEqual([expect.stringContaining("leaves the suite's folder")]);
  expect(await load('python3, -u, link.py')).toEqual([expect.stringContaining('is a link that leads out')]);
  expect(await load('./link.py')).toEqual([expect.stringContaining('is a link that leads out')]);
  const loads = async (command: string, more = ''): Promise<void> => {
    await writeFile(path.join(cwd, 'suite.yaml'), suite(command) + more);
    await loadSuite('suite.yaml', { env: {}, cwd });
  };
  await loads('python3, mine.py, .., ../no-file, --level=../x');
  await loads('python3, ../theirs.py', 'allow_outside: true\n');
});

test('a script of a command that is not there is a warning; options, modules and words are not taken for one', async () => {
  const warnings = async (command: string): Promise<string[]> => {
    const cwd = await folderWith({
      'suite.yaml': `name: s\nkind: deep\ndatasets: [cases.yaml]\nagent: {command: [${command}]}\n`,
      'cases.yaml': CASES,
      'agent.py': '',
    });
    return (await loadSuite('suite.yaml', { env: {}, cwd })).problems
      .filter(({ severity }) => severity === 'warning')
      .map(({ message }) => message)
      .filter((message) => message.startsWith('agent.command'));
  };
  expect(await warnings('python3, agentt.py')).toEqual([
    'agent.command: there is no file "agentt.py" in the suite\'s folder, where the program runs',
  ]);
  expect(await warnings('node, -r, ./none.mjs, agent.py')).toHaveLength(1);
  for (const fine of ['python3, agent.py, out.py', 'python3, -m, agent', 'x, --f=none.py', 'x, "a: none.py"', 'x.py']) {
    expect(await warnings(fine)).toEqual([]);
  }
});

test('what an agent is made of is in its hash; where it is, and which variables it may see, are not', async () => {
  const command = '{command: [node, agent.mjs], options: {a: 1}}';
  const first = await hashOf(command, { 'agent.mjs': '1' });
  expect(await hashOf(command, { 'agent.mjs': '1' })).toBe(first);
  expect(await hashOf(command, { 'agent.mjs': '2' })).not.toBe(first);
  expect(await hashOf('{command: [node, agent.mjs], options: {a: 2}}', { 'agent.mjs': '1' })).not.toBe(first);
  expect(await hashOf('{command: [node, agent.mjs], options: {a: 1}, pass_env: [X]}', { 'agent.mjs': '1' })).toBe(
    first,
  );
  const http = await hashOf('{url: "https://a", request: {q: 1}}');
  expect(await hashOf('{url: "https://b", request: {q: 1}, auth_env: X}')).toBe(http);
  expect(await hashOf('{url: "https://a", request: {q: 2}}')).not.toBe(http);
  const replay = await hashOf('{trajectories: t.jsonl}', { 't.jsonl': '{"caseId":"a","messages":[]}' });
  expect(await hashOf('{trajectories: t.jsonl}', { 't.jsonl': '{"caseId":"b","messages":[]}' })).not.toBe(replay);
});
