import { symlink } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadSuite } from '../../../src/datasets/load-suite.ts';
import type { LoadedSuite } from '../../../src/datasets/load-suite.ts';
import { readCases } from '../../../src/datasets/read-cases.ts';
import { briefly, folderWith, problemsOf } from './temporary-folder.ts';

const SUITE = `name: s
kind: deep
datasets: [cases.yaml]
agent: {type: openai, model: m}
`;
const CASES = `- {id: a, input: x}\n- {id: b, input: y}\n`;

async function load(files: Record<string, string>, env: Record<string, string> = {}): Promise<LoadedSuite> {
  const folder = await folderWith({ 'suite.yaml': SUITE, 'cases.yaml': CASES, ...files });
  return loadSuite('suite.yaml', { env, cwd: folder });
}

async function errorsOf(files: Record<string, string>, env: Record<string, string> = {}): Promise<string[]> {
  const problems = await problemsOf(load(files, env));
  return problems.map((problem) => `${problem.file}:${problem.line}:${problem.column} ${problem.message}`);
}

describe('defaults and short forms', () => {
  test('every default of core/suite.ts', async () => {
    const { suite, cases, problems } = await load({});
    expect(problems).toEqual([]);
    expect(cases.map((one) => one.id)).toEqual(['a', 'b']);
    expect(suite).toEqual({
      name: 's',
      kind: 'deep',
      datasets: ['cases.yaml'],
      tools: [],
      fixtures: {},
      agent: { type: 'openai', model: 'm' },
      judge: null,
      tool_score: { weights: { names: 0.4, args: 0.3, order: 0.3 }, profile: 'weighted' },
      trials: 1,
      concurrency: 10,
      limits: {
        max_iterations: 20,
        max_tokens: 200000,
        max_tool_calls: 50,
        timeout_ms: 120000,
        call_timeout_ms: 60000,
      },
      retry: { model_failures: 5, worker_deaths: 5, max_retry_after_ms: 300000, backoff_ms: 1000 },
      safety: { forbidden_tools: [], high_risk_tools: [] },
      gates: [],
      gates_off: [],
      regression: { alert: 0.05, max_drop: 0.1, significance: 'off', alpha: 0.05, strict: false, label: 'main' },
      prices: {},
      labels: {},
    });
  });

  test('the judge: defaults, and the endpoint of the agent unless it has its own', async () => {
    const judged = async (judge: string): Promise<unknown> => {
      const agent = '{type: openai, model: m, base_url: "http://a/v1", api_key_env: AGENT_KEY}';
      return (await load({ 'suite.yaml': SUITE.replace('{type: openai, model: m}', agent) + `judge: ${judge}\n` }))
        .suite.judge;
    };
    expect(await judged('{model: j}')).toEqual({
      model: 'j',
      base_url: 'http://a/v1',
      api_key_env: 'AGENT_KEY',
      dimensions: ['task_completion', 'answer_quality'],
      language: 'en',
      temperature: 0,
      max_output_tokens: 1024,
      response_format: 'json_object',
    });
    expect(await judged('{model: j, base_url: "http://j/v1"}')).not.toHaveProperty('api_key_env');
    expect(await judged('null')).toBeNull();
  });

  test('gates: map and list, bounds, groups, off', async () => {
    const gates = `gates:
  completion_rate: ">= 0.9"
  case_pass_rate: "> 80 %"
  mean_latency_ms: "< 10000"
  mean_tokens: 5000
  tool_score: off
  "category:数据查询": {metric: completion_rate, min: 1}
  "tag:safety": "= 1"
  strict one: {metric: tool_args, min: 0.5, exclusive: true, difficulty: HARD}
`;
    const cases = '- {id: a, input: x, category: 数据查询, tags: [safety], difficulty: HARD}\n';
    const { suite, problems } = await load({ 'suite.yaml': SUITE + gates, 'cases.yaml': cases });
    expect(problems).toEqual([]);
    expect(suite.gates).toEqual(
      [
        { name: 'completion_rate', metric: 'completion_rate', min: 0.9 },
        { name: 'case_pass_rate', metric: 'case_pass_rate', min: 0.8, exclusive: true },
        { name: 'mean_latency_ms', metric: 'mean_latency_ms', max: 10000, exclusive: true },
        { name: 'mean_tokens', metric: 'mean_tokens', max: 5000 },
        { name: '数据查询', metric: 'completion_rate', category: '数据查询', min: 1 },
        { name: 'safety', metric: 'completion_rate', tag: 'safety', min: 1 },
        { name: 'strict one', metric: 'tool_args', min: 0.5, exclusive: true, difficulty: 'HARD' },
      ].map((gate) =>
        'category' in gate
          ? { ...gate, name: 'category:数据查询' }
          : 'tag' in gate
            ? { ...gate, name: 'tag:safety' }
            : gate,
      ),
    );
    expect(suite.gates_off).toEqual(['tool_score']);
    const list =
      'gates:\n  - {metric: tool_score, min: 0.7, tag: safety}\n  - {name: n, metric: mean_tokens, max: 3}\n';
    expect((await load({ 'suite.yaml': SUITE + list, 'cases.yaml': cases })).suite.gates).toEqual([
      { name: 'tool_score tag:safety', metric: 'tool_score', min: 0.7, tag: 'safety' },
      { name: 'n', metric: 'mean_tokens', max: 3 },
    ]);
  });

  test('a scorer of the suite’s own is a metric of its gates; a name that no scorer has is refused', async () => {
    const scorers = 'scorers: [{name: brevity, path: own.mjs}]\n';
    const files = (text: string) => ({ 'suite.yaml': `${SUITE}${text}`, 'own.mjs': '', 'cases.yaml': CASES });
    for (const gates of ['gates: {brevity: ">= 0.9"}', 'gates: [{metric: brevity, min: 0.9}]']) {
      const { suite } = await load(files(`${scorers}${gates}\n`));
      expect(suite.gates).toEqual([{ name: 'brevity', metric: 'brevity', min: 0.9 }]);
    }
    const [problem] = await problemsOf(load(files(`${scorers}gates: {brevty: ">= 0.9"}\n`)));
    expect(problem?.message).toContain('did you mean "brevity"');
    const [none] = await problemsOf(load(files('gates: {brevity: ">= 0.9"}\n')));
    expect(none?.message).toContain('gates["brevity"].metric');
  });

  test('a scorer cannot be named like a metric or a gate of Assay’s own', async () => {
    for (const name of ['completion_rate', 'cost_usd', 'regression', 'tool_score']) {
      const text = `scorers: [{name: ${name}, path: own.mjs}]\n`;
      const [problem] = await problemsOf(load({ 'suite.yaml': `${SUITE}${text}`, 'own.mjs': '', 'cases.yaml': CASES }));
      expect(problem?.message).toMatch(new RegExp(`scorers: "${name}" is a (metric|score) of Assay's own`));
    }
  });

  test('every default gate but safety can be switched off, in both forms', async () => {
    for (const name of ['completion_rate', 'unscored_share', 'budget', 'regression']) {
      for (const text of [`gates_off: [${name}]\n`, `gates: {${name}: off}\n`]) {
        const { suite, problems } = await load({ 'suite.yaml': SUITE + text });
        expect(problems).toEqual([]);
        expect(suite.gates_off).toEqual([name]);
      }
    }
  });

  test('a gate named safety_violations is ignored, and lint says so', async () => {
    const { problems } = await load({ 'suite.yaml': `${SUITE}gates: {safety_violations: "<= 3"}\n` });
    expect(problems.map(({ severity, message }) => `${severity}: ${message}`)).toEqual([
      expect.stringMatching(/^warning: gates: "safety_violations" is ignored/),
    ]);
  });

  test('tools and fixtures from files, inline, and in the OpenAI form', async () => {
    const { suite } = await load({
      'suite.yaml': `${SUITE}tools: parts/tools.json\nfixtures: [parts/f1.yaml, parts/f2.yaml]\n`,
      'parts/tools.json': '[{"name":"f"},{"type":"function","function":{"name":"g","parameters":{"type":"object"}}}]',
      'parts/f1.yaml': 'default:\n  - {tool: f, result: 1}\n',
      'parts/f2.yaml': 'slow: {tool: g, delay_ms: 5, result: {a: [1]}}\n',
      'cases.yaml': '- {id: a, input: x, mock: slow}\n'.replace('mock: slow', 'mock: {fixtures: [slow]}'),
    });
    expect(suite.tools).toEqual([{ name: 'f' }, { name: 'g', parameters: { type: 'object' } }]);
    expect(suite.fixtures).toEqual({
      default: [{ tool: 'f', replies: [{ result: 1 }] }],
      slow: [{ tool: 'g', replies: [{ delay_ms: 5, result: { a: [1] } }] }],
    });
  });

  test('extends: merged key by key, own parts win, paths are relative to the file that names them', async () => {
    const { suite, problems } = await load({
      'suite.yaml': 'extends: bases/mid.yaml\nname: own\nlimits: {max_tokens: 5}\ndatasets: [cases.yaml]\n',
      'bases/mid.yaml': 'extends: deep/base.yaml\nlimits: {max_tokens: 4, max_iterations: 3}\ntools: tools.yaml\n',
      'bases/tools.yaml': '- {name: f}\n',
      'bases/deep/base.yaml':
        'name: base\nkind: deep\nlimits: {max_tool_calls: 2}\nagent: {type: openai, model: m, seed: 1}\n',
    });
    expect(problems).toEqual([]);
    expect(suite).toMatchObject({ name: 'own', kind: 'deep', tools: [{ name: 'f' }], agent: { seed: 1 } });
    expect(suite.limits).toMatchObject({ max_tokens: 5, max_iterations: 3, max_tool_calls: 2 });
  });

  test('an error in a base is shown in the base', async () => {
    const files = {
      'suite.yaml': 'extends: base.yaml\nname: own\ndatasets: [cases.yaml]\n',
      'base.yaml': 'agent: {type: openai, model: m}\nkind: smok\n',
    };
    expect((await errorsOf(files))[0]).toContain('base.yaml:2:7 kind: expected one of smoke');
    expect((await errorsOf({ ...files, 'base.yaml': 'extends: suite.yaml\n' }))[0]).toContain(
      'extends this file in turn',
    );
  });
});

describe('environment', () => {
  const suite = (field: string): string => SUITE.replace('model: m', () => `model: ${field}`);

  test('replaced in listed fields, with defaults', async () => {
    const model = async (field: string, env: Record<string, string>): Promise<unknown> =>
      (await load({ 'suite.yaml': suite(field) }, env)).suite.agent;
    expect(await model('"${M}"', { M: 'x' })).toMatchObject({ model: 'x' });
    expect(await model('"${M:-d}-1"', {})).toMatchObject({ model: 'd-1' });
    expect(await model('"${M:-d}"', { M: '' })).toMatchObject({ model: 'd' });
    expect(await model('"$${M}"', { M: 'x' })).toMatchObject({ model: '${M}' });
  });

  test('unset without default, and outside the listed fields: errors that say what to do', async () => {
    expect(await errorsOf({ 'suite.yaml': suite('"${M}"') })).toEqual([
      'suite.yaml:4:30 agent.model: the environment variable M is not set; set it, or write ${M:-default}',
    ]);
    const [error] = await errorsOf({ 'suite.yaml': `${SUITE}labels: {key: "\${SECRET}"}\n` }, { SECRET: 'hunter2' });
    expect(error).toContain(
      'labels.key: ${SECRET} is replaced only in agent.model, agent.base_url, agent.url, judge.model, judge.base_url',
    );
    expect(error).not.toContain('hunter2');
  });
});

describe('every problem at once', () => {
  test('suite, tools, fixtures and several datasets', async () => {
    const errors = await errorsOf({
      'suite.yaml': `name: s\nkind: smok\ndatasets: [one.yaml, two.jsonl, none.csv]\ntools: tools.yaml\nfixtures: {f: [{tol: x}]}\nagent: {type: opnai}\ntool_score: {weights: {names: 0.5, args: 0.3, order: 0.3}}\n`,
      'tools.yaml': '- {nam: f}\n',
      'one.yaml': '- {id: a, inpt: x}\n',
      'two.jsonl': '{"id":"b","input":"x"}\n{"id":',
    });
    const places = errors.map((error) => error.split(' ')[0]);
    expect(new Set(places)).toEqual(
      new Set([
        'suite.yaml:2:7',
        'suite.yaml:3:33',
        'suite.yaml:5:17',
        'suite.yaml:5:16',
        'suite.yaml:6:15',
        'suite.yaml:7:23',
        'tools.yaml:1:3',
        'tools.yaml:1:4',
        'one.yaml:1:11',
        'two.jsonl:2:7',
      ]),
    );
    expect(errors.join('\n')).toContain('tool_score.weights: names + args + order must sum to 1');
  });

  test.each([
    ['budget: 5\n', 'write budget_usd'],
    ['agents: []\n', 'one agent a suite'],
    ['gates: {completion_rat: ">= 0.9"}\n', '(did you mean "completion_rate"?)'],
    ['gates: {x: {metric: tool_score, min: 1, max: 2}}\n', 'expected exactly one of min and max'],
    ['gates: {completion_rate: ">> 0.9"}\n', 'expected a bound such as ">= 0.9"'],
    ['gates: {safety_violations: off}\n', 'cannot be switched off'],
    ['decides: [tool_mach]\n', 'no scorer is named "tool_mach" (did you mean "tool_match"?)'],
    ['gates_off: [completion]\n', 'no default gate is named "completion"'],
    ['gates: {regression: {metric: tool_score, min: 1}}\n', '"regression" is a gate of Assay\'s own'],
    ['gates: [{name: any_verdict, metric: tool_score, min: 1}]\n', '"any_verdict" is a gate of Assay\'s own'],
    ['gates: [{metric: tool_score, min: 1}, {metric: tool_score, min: 0}]\n', 'two gates are named "tool_score"'],
    ['judge: {model: j, base_url: "https://host/v1?key=pw"}\n', 'without a query'],
    ['judge: {model: j, base_url: "https://me:pw@host/v1"}\n', 'without user name and password'],
    ['judge: {model: j, api_key: x}\n', 'keys do not belong into files'],
    ['judge: {model: j, dimensions: [task_complete]}\n', '(did you mean "task_completion"?)'],
    ['concurrency: 0\n', 'concurrency: expected at least 1, got 0'],
    ['offline_model: nope.yaml\n', 'offline_model: "nope.yaml": no such file'],
    ['judge: {model: j, prompts: cases.yaml}\n', 'expected a folder'],
    ['gates: {steady: {metric: stability_stdev, max: 0.1, tag: a}}\n', 'gates: "steady" can bound no group'],
    ['tools: [{name: f}, {name: f}]\n', 'tools: "f" is defined twice; first at suite.yaml:5:9'],
  ])('%j', async (addition, message) => {
    expect((await errorsOf({ 'suite.yaml': SUITE + addition })).join('\n')).toContain(message);
  });

  test('cases that did not load are not missed twice: nothing is said of sizes and groups then', async () => {
    const suite = `${SUITE.replace('deep', 'smoke')}gates: {"category:refund": {metric: completion_rate, min: 1}}\n`;
    const broken = '- {id: a, input: x}\n- {id: b, inptu: y, category: refund}\n';
    const messages = await errorsOf({ 'suite.yaml': suite, 'cases.yaml': broken });
    expect(messages.join('\n')).toContain('did you mean "input"');
    expect(messages.join('\n')).not.toMatch(/kind: |applies to no case/);
    const warnings = (await load({ 'suite.yaml': suite })).problems.map((problem) => problem.message).join('\n');
    expect(warnings).toMatch(/kind: 2 cases; [^]*applies to no case/);
  });

  test('an unknown kind of agent or failure: what is known, and what was probably meant', async () => {
    const cases = '- {id: a, input: x, mock: {tools: [{tool: f, fail: timeot}, {tool: g, fail: {message: m}}]}}\n';
    const messages = await errorsOf({ 'suite.yaml': SUITE.replace('openai', 'opena'), 'cases.yaml': cases });
    expect(messages).toEqual([
      'suite.yaml:4:15 agent.type: expected one of openai, module, http, command, replay, a2a, got text "opena" (did you mean "openai"?)',
      expect.stringMatching(
        /fail\.kind: expected one of timeout, http_500, .*got text "timeot" \(did you mean "timeout"\?\)$/,
      ),
      expect.stringMatching(/missing: mock\.tools\[1\]\.replies\[0\]\.fail\.kind \(one of timeout, /),
    ]);
  });

  test('a suite file that is not there, empty, or not an object', async () => {
    const folder = await folderWith({ 'empty.yaml': '', 'list.yaml': '- a\n' });
    const errors = async (name: string): Promise<string[]> =>
      briefly(await problemsOf(loadSuite(name, { env: {}, cwd: folder })));
    expect(await errors('nope.yaml')).toEqual([
      '0:0 no such file; name a suite file (YAML), or write a first one with `assay init`',
    ]);
    expect((await errors('empty.yaml'))[0]).toContain('expected a suite');
    expect((await errors('list.yaml'))[0]).toContain('expected a suite (name, datasets, agent, …), got a list');
  });
});

describe('cases and references', () => {
  test('R1: three cases with one text and different ids are three cases', async () => {
    const { cases, caseHashes } = await load({
      'cases.yaml': '- {id: a, input: x}\n- {id: b, input: x}\n- {id: c, input: x}\n',
    });
    expect(cases.map((one) => one.id)).toEqual(['a', 'b', 'c']);
    expect(new Set(caseHashes.values()).size).toBe(3);
  });

  test('R3: an id in two files is refused before the run, both places named', async () => {
    const errors = await errorsOf({
      'suite.yaml': SUITE.replace('[cases.yaml]', '[one.yaml, two.jsonl]'),
      'one.yaml': '- id: refund-1\n  input: x\n',
      'two.jsonl': '{"id":"other","input":"y"}\n{"id":"refund-1","input":"z"}\n',
    });
    expect(errors).toEqual(['two.jsonl:2:7 duplicate id "refund-1"; it is already the id of the case at one.yaml:1:7']);
  });

  test('unknown fixtures and tools', async () => {
    const suite = `${SUITE}tools: [{name: refund}]\nfixtures: {slow-db: [{tool: refund, result: 1}], idle: [{tool: refund, result: 2}]}\n`;
    const errors = await errorsOf({
      'suite.yaml': suite,
      'cases.yaml': `- {id: a, input: x, mock: {fixtures: [slow_db]}}\n- {id: b, input: x, tools: [refnd]}\n- {id: c, input: x, expected: {must_call: [refnd]}}\n`,
    });
    expect(errors[0]).toContain('case "a": unknown fixture "slow_db" (did you mean "slow-db"?)');
    expect(errors[1]).toContain('case "b": unknown tool "refnd" (did you mean "refund"?)');
    expect(errors[2]).toContain(
      'case "c": expected.must_call names the tool "refnd", which the case does not offer (did you mean "refund"?)',
    );
  });

  test('warnings: unused fixtures, a tool that is forbidden but not offered, a judge that is the agent, sizes, gates without cases', async () => {
    const { problems } = await load({
      'suite.yaml': `${SUITE.replace('deep', 'smoke')}tools: [{name: f}]\nfixtures: {idle: [{tool: f, result: 2}]}\njudge: {}\ngates: {"tag:nope": {min: 1}}\nsafety: {forbidden_tools: [g]}\n`,
      'cases.yaml': '- {id: a, input: x, expected: {must_not_call: [drop]}}\n',
    });
    const text = problems.map((problem) => problem.message).join('\n');
    expect(problems.every((problem) => problem.severity === 'warning')).toBe(true);
    expect(text).toContain('fixtures: "idle" is used by no case');
    expect(text).toContain('expected.must_not_call names the tool "drop"');
    expect(text).toContain("the judge is the agent's own model (m)");
    expect(text).toContain('1 case; a smoke suite runs on every prompt change and has 10 to 20');
    expect(text).toContain('"tag:nope" applies to no case');
    expect(text).toContain('safety.forbidden_tools: the suite has no tool "g"');
    expect(problems).toHaveLength(6);
  });

  test('a module agent may have tools of its own: unknown expected tools are warnings', async () => {
    const { problems } = await load({
      'suite.yaml':
        SUITE.replace('{type: openai, model: m}', '{type: module, path: agent.ts}') + 'tools: [{name: f}]\n',
      'agent.ts': 'export default async () => "x";\n',
      'cases.yaml': '- {id: a, input: x, expected: {must_call: [own]}}\n',
    });
    expect(problems.map((problem) => problem.severity)).toEqual(['warning']);
  });

  test('an empty dataset is refused', async () => {
    expect(await errorsOf({ 'cases.yaml': '' })).toEqual(['cases.yaml:0:0 no cases in this file']);
    expect(await errorsOf({ 'cases.yaml': '[]' })).toEqual(['cases.yaml:0:0 no cases in this file']);
    const csv = { 'suite.yaml': SUITE.replace('cases.yaml', 'c.csv'), 'c.csv': 'id,input\n' };
    expect(await errorsOf(csv)).toEqual(['c.csv:0:0 no cases in this file']);
    expect((await errorsOf({ 'suite.yaml': SUITE.replace('cases.yaml', 'c.txt'), 'c.txt': '' }))[0]).toContain(
      'unknown kind of dataset ".txt"',
    );
  });
});

describe('D8: files stay under the folder of the suite', () => {
  test.each([
    ['datasets: [../secret.yaml]', "leaves the suite's folder"],
    ['datasets: [x/../../secret.yaml]', "leaves the suite's folder"],
    ['datasets: [/etc/hostname]', 'is absolute'],
    ['datasets: [link.yaml]', 'a link that leads out'],
    ['datasets: [folder/secret.yaml]', 'a link that leads out'],
    ['datasets: [cases.yaml]\ntools: ../secret.yaml', "leaves the suite's folder"],
    ['datasets: [cases.yaml]\nfixtures: link.yaml', 'a link that leads out'],
    ['datasets: [cases.yaml]\noffline_model: ../secret.yaml', "leaves the suite's folder"],
    ['datasets: [cases.yaml]\nextends: ../secret.yaml', "leaves the suite's folder"],
    ['datasets: [cases.yaml]\nscorers: [{name: own, path: ../secret.yaml}]', "leaves the suite's folder"],
    ['datasets: [cases.yaml]\nscorers: [{name: own, path: link.yaml}]', 'a link that leads out'],
  ])('%s', async (lines, message) => {
    const outer = await folderWith({
      'secret.yaml': '- {id: secret, input: x}\n',
      'in/cases.yaml': CASES,
      'in/suite.yaml': SUITE.replace('datasets: [cases.yaml]', lines),
    });
    await symlink(path.join(outer, 'secret.yaml'), path.join(outer, 'in/link.yaml'));
    await symlink(outer, path.join(outer, 'in/folder'));
    const problems = await problemsOf(loadSuite('suite.yaml', { env: {}, cwd: path.join(outer, 'in') }));
    expect(briefly(problems).join('\n')).toContain(message);
  });

  test('allow_outside: true allows it', async () => {
    const outer = await folderWith({
      'shared.yaml': CASES,
      'in/suite.yaml': `allow_outside: true\n${SUITE.replace('cases.yaml', '../shared.yaml')}`,
    });
    const { cases } = await loadSuite('in/suite.yaml', { env: {}, cwd: outer });
    expect(cases).toHaveLength(2);
  });
});

describe('hashes', () => {
  const base = {
    'suite.yaml': `${SUITE}fixtures: {f: [{tool: t, result: 1}], g: [{tool: t, result: 1}]}\njudge: {model: j}\n`,
    'cases.yaml': '- {id: a, input: x, mock: {fixtures: [f]}}\n- {id: b, input: y, mock: {fixtures: [g]}}\n',
  };
  const changed = (from: string, to: string): Record<string, string> => ({
    ...base,
    'suite.yaml': base['suite.yaml'].replace(from, to),
  });

  test('the form of a file does not matter, its content does', async () => {
    const one = await load(base);
    const json = await load({
      ...changed('cases.yaml', 'cases.json'),
      'cases.json':
        '[{"mock":{"fixtures":["f"]},"input":"x","id":"a"},{"id":"b","input":"y","mock":{"fixtures":["g"]}}]',
    });
    expect(json.hashes).toEqual(one.hashes);
    const edited = await load({ ...base, 'cases.yaml': base['cases.yaml'].replace('input: y', 'input: z') });
    expect(edited.hashes.data).not.toBe(one.hashes.data);
    expect(edited.caseHashes.get('a')).toBe(one.caseHashes.get('a'));
    expect(edited.caseHashes.get('b')).not.toBe(one.caseHashes.get('b'));
  });

  test('a fixture changes the cases that use it', async () => {
    const one = await load(base);
    const two = await load(changed('f: [{tool: t, result: 1}]', 'f: [{tool: t, result: 2}]'));
    expect(two.caseHashes.get('a')).not.toBe(one.caseHashes.get('a'));
    expect(two.caseHashes.get('b')).toBe(one.caseHashes.get('b'));
  });

  test.each([
    ['gates', 'gates: {tool_score: ">= 0.1"}\n'],
    ['labels', 'labels: {a: b}\n'],
    ['budget', 'budget_usd: 1\n'],
    ['concurrency', 'concurrency: 3\n'],
    ['prices', 'prices: {m: {input: 1, output: 2}}\n'],
    ['trials', 'trials: 5\n'],
    ['retry', 'retry: {model_failures: 1}\n'],
    ['regression', 'regression: {alert: 0.2}\n'],
  ])('%s change no hash', async (_name, line) => {
    expect((await load({ ...base, 'suite.yaml': base['suite.yaml'] + line })).hashes).toEqual(
      (await load(base)).hashes,
    );
  });

  test.each([
    ['judge: {model: j}', 'judge: {model: j2}'],
    ['judge: {model: j}', 'judge: {model: j, language: zh}'],
    ['judge: {model: j}', 'judge: {model: j}\nlimits: {max_tokens: 7}'],
    ['judge: {model: j}', 'judge: {model: j}\ndecides: [tool_match]'],
    ['judge: {model: j}', 'judge: {model: j}\nsafety: {forbidden_tools: [x]}'],
    ['judge: {model: j}', 'judge: {model: j}\ntools: [{name: x}]'],
  ])('%s → %s changes the suite hash alone', async (from, to) => {
    const one = await load(base);
    const two = await load(changed(from, to));
    expect(two.hashes.suite).not.toBe(one.hashes.suite);
    expect(two.hashes.agent).toBe(one.hashes.agent);
  });

  test('the agent: its address and key do not count, its seed and the content of its module do', async () => {
    const agent = async (config: string, module = 'x'): Promise<string> =>
      (await load({ 'suite.yaml': SUITE.replace('{type: openai, model: m}', config), 'agent.ts': module })).hashes
        .agent;
    const plain = await agent('{type: openai, model: m}');
    expect(await agent('{type: openai, model: m, base_url: "http://x/v1", api_key_env: K}')).toBe(plain);
    expect(await agent('{type: openai, model: m, seed: 1}')).not.toBe(plain);
    const module = '{type: module, path: agent.ts}';
    expect(await agent(module, 'one')).not.toBe(await agent(module, 'two'));
  });

  test("a judge prompt of the user's own changes the suite hash", async () => {
    const files = changed('judge: {model: j}', 'judge: {model: j, prompts: prompts}');
    const one = await load({ ...files, 'prompts/task_completion.txt': 'one' });
    const two = await load({ ...files, 'prompts/task_completion.txt': 'two' });
    expect(two.hashes.suite).not.toBe(one.hashes.suite);
    expect(await errorsOf({ ...files, 'prompts/task_complete.txt': 'x' })).toHaveLength(1);
  });
});

test('readCases: a file that is not there is no unknown kind of dataset; a folder and a name without an ending are said', async () => {
  const folder = await folderWith({ plain: '[]' });
  const problem = async (name: string): Promise<string> =>
    briefly(await problemsOf(readCases(path.join(folder, name))))[0] ?? '';
  expect(await problem('nope')).toBe('0:0 no such file');
  expect(await problem('nope.txt')).toBe('0:0 no such file');
  expect(await problem('.')).toBe('0:0 is a folder; expected a file');
  expect(await problem('plain')).toMatch(/^0:0 the name has no ending that says its kind; expected \.yaml, /);
});

test('readCases reads one file of any form and refuses duplicates', async () => {
  const folder = await folderWith({
    'c.csv': 'id,input\na,x\n',
    'd.json': '{"cases":[{"id":"a","input":"x"},{"id":"a","input":"y"}]}',
    'one.yaml': 'id: a\ninput: x\n',
  });
  expect(await readCases(path.join(folder, 'c.csv'))).toEqual([{ id: 'a', input: 'x', expected: {} }]);
  expect(await readCases(path.join(folder, 'one.yaml'))).toEqual([{ id: 'a', input: 'x', expected: {} }]);
  expect(briefly(await problemsOf(readCases(path.join(folder, 'd.json'))))[0]).toContain('1:40 duplicate id "a"');
});
