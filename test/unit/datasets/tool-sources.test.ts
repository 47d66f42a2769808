import { symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { type LoadedSuite, loadSuite } from '../../../src/datasets/load-suite.ts';
import { briefly, folderWith, problemsOf } from './temporary-folder.ts';

const BASE = 'name: s\nkind: deep\ndatasets: [cases.yaml]\nagent: {type: openai, model: m}\ntools: [{name: look}]\n';

async function load(
  more: string,
  cases = '- {id: a, input: x}\n',
  files: Record<string, string> = {},
): Promise<LoadedSuite> {
  const folder = await folderWith({ 'suite.yaml': BASE + more, 'cases.yaml': cases, ...files });
  return loadSuite('suite.yaml', { env: {}, cwd: folder });
}
const errorsOf = async (...args: Parameters<typeof load>): Promise<string[]> =>
  (await problemsOf(load(...args))).map(({ message }) => message);

describe('sub-agents', () => {
  test('a suite and its cases declare them', async () => {
    const { suite, cases, problems } = await load(
      'sub_agents: [{name: clerk, tools: [look], sub_agents: [boss]}, {name: boss, mock: {result: yes}}]\n',
      '- {id: a, input: x, expected: {must_call: [dispatch_sub_agent]}}\n- {id: b, input: y, context: {sub_agents: [boss]}}\n',
    );
    expect(briefly(problems)).toEqual([]);
    expect(suite.sub_agents?.map(({ name }) => name)).toEqual(['clerk', 'boss']);
    expect(cases[1]?.context?.sub_agents).toEqual(['boss']);
  });

  test('names that lead nowhere or stand twice are errors, with what was meant', async () => {
    const errors = await errorsOf(
      'sub_agents: [{name: clerk, tools: [lok], sub_agents: [bos]}, {name: clerk}]\n',
      '- {id: a, input: x, context: {sub_agents: [clerc, {name: own, tools: [nothing]}]}}\n',
    );
    expect(errors).toEqual([
      expect.stringContaining('sub_agents: clerk names the tool "lok", which is not defined (did you mean "look"?)'),
      expect.stringContaining('sub_agents: clerk names the sub-agent "bos", which is not declared here'),
      expect.stringContaining('sub_agents: "clerk" is defined twice'),
      expect.stringContaining('unknown sub-agent "clerc" (did you mean "clerk"?); known: clerk'),
      expect.stringContaining('own names the tool "nothing"'),
    ]);
  });

  test('shape C: what a sub-agent does becomes its simulation, its canary the case’s', async () => {
    const behavior = {
      name: 'clerk',
      tools: ['look'],
      behaviour: 'leak',
      timeoutMs: 2000,
      maxDispatches: 2,
      result: 'done',
      leakedSteps: ['opened the drawer'],
      canary: 'BLUE-HERON-7',
    };
    const one = {
      id: 'a',
      dimension: 'subagent_isolation',
      query: 'go',
      context: { availableTools: ['look'], subAgentBehavior: behavior },
      expected: { tools: [], answerCriteria: 'x' },
    };
    const two = { ...one, id: 'b', context: { ...one.context, subAgentBehavior: { name: 'slow', delayMs: 9000 } } };
    const three = { ...one, id: 'c', context: { ...one.context, subAgentBehavior: 'It waits.' } };
    const { cases } = await load('', JSON.stringify([one, two, three]));
    expect(cases.map((evalCase) => evalCase.context?.sub_agents)).toEqual([
      [
        {
          name: 'clerk',
          tools: ['look'],
          behavior: 'leak',
          timeout_ms: 2000,
          max_dispatches: 2,
          mock: { result: 'done\nopened the drawer' },
        },
      ],
      [{ name: 'slow', mock: { delay_ms: 9000 } }],
      [{ name: 'sub_agent', behavior: 'It waits.' }],
    ]);
    expect(cases.map((evalCase) => evalCase.expected.canaries)).toEqual([['BLUE-HERON-7'], undefined, undefined]);
  });
});

describe('MCP servers', () => {
  test.each([
    ['{name: a}', 'expected command (a stdio server) or url'],
    ['{name: a, command: x, url: "http://h/mcp"}', 'either command or url, got both'],
    ['{name: a, command: x, mode: record}', 'mode record needs a recording'],
    ['{name: a, url: "http://user:pw@h/mcp"}', 'without user name and password'],
    ['{name: a, url: "http://h/mcp", token: x}', 'tokens do not belong into files'],
    ['{name: a b, command: x}', 'expected letters, digits'],
    ['{name: a, mode: replay, recording: nowhere.jsonl}', 'make it with mode: record'],
    ['{name: a, command: x, mode: record, recording: ../out.jsonl}', "leaves the suite's folder"],
    ['{name: a, command: x}, {name: a, command: y}', '"a" is defined twice'],
  ])('%s', async (servers, message) => {
    expect((await errorsOf(`mcp: [${servers}]\n`)).join('\n')).toContain(message);
  });

  test('tools they bring may be named', async () => {
    const { problems } = await load(
      'mcp: [{name: a, command: x}]\n',
      '- {id: a, input: x, tools: [look, theirs], expected: {must_call: [theirs]}}\n',
    );
    expect(problems.map(({ severity }) => severity)).toEqual(['warning']);
  });

  test('D8: no recording is written, and no server started, outside the suite’s folder', async () => {
    const outer = await folderWith({ 'theirs.mjs': '', 'in/cases.yaml': '- {id: a, input: x}\n' });
    const cwd = path.join(outer, 'in');
    await symlink(outer, path.join(cwd, 'folder'));
    await symlink(path.join(outer, 'not-there.jsonl'), path.join(cwd, 'link.jsonl'));
    const problemsWith = async (server: string): Promise<string[]> => {
      await writeFile(path.join(cwd, 'suite.yaml'), `${BASE}mcp: [{name: a, ${server}}]\n`);
      return (await problemsOf(loadSuite('suite.yaml', { env: {}, cwd }))).map(({ message }) => message);
    };
    for (const [recording, message] of [
      ['folder/calls.jsonl', 'is a link that leads out'],
      ['folder/new/calls.jsonl', 'is a link that leads out'],
      ['link.jsonl', 'no such file'],
      ['x/../../calls.jsonl', "leaves the suite's folder"],
      ['/tmp/calls.jsonl', 'is absolute'],
    ]) {
      expect(await problemsWith(`command: x, mode: record, recording: ${recording}`)).toEqual([
        expect.stringContaining(message ?? ''),
      ]);
    }
    for (const command of ['command: ../theirs.mjs', 'command: node, args: [folder/theirs.mjs]']) {
      expect(await problemsWith(command)).toEqual([expect.stringMatching(/leaves the suite's folder|leads out/)]);
    }
    await writeFile(
      path.join(cwd, 'suite.yaml'),
      `${BASE}mcp: [{name: a, command: x, mode: record, recording: new/calls.jsonl}]\n`,
    );
    await loadSuite('suite.yaml', { env: {}, cwd });
  });

  test('the content of a replayed recording is part of the suite’s hash; address and token are not', async () => {
    const hashOf = async (server: string, recording: string): Promise<string> => {
      const { hashes } = await load(`mcp: [${server}]\n`, undefined, { 'calls.jsonl': recording });
      return hashes.suite;
    };
    const replay = '{name: a, mode: replay, recording: calls.jsonl}';
    expect(await hashOf(replay, 'x')).not.toBe(await hashOf(replay, 'y'));
    expect(await hashOf(replay, 'x')).toBe(await hashOf(replay, 'x'));
    const [here, there] = ['{name: a, url: "http://here/mcp"}', '{name: a, url: "http://there/mcp", token_env: T}'];
    expect(await hashOf(here, 'x')).toBe(await hashOf(there, 'y'));
  });
});
