import { expect, test } from 'vitest';
import type { EvalCase } from '../../../src/core/case.ts';
import { suiteSchema } from '../../../src/core/suite.schema.ts';
import { isOffline, newEvaluation, type EvaluationOptions } from '../../../src/db/new-evaluation.ts';

const suite = suiteSchema.parse({
  name: 'Énergie & co',
  datasets: ['a.yaml'],
  agent: { type: 'openai', model: 'm' },
  offline_model: 'model.yaml',
  labels: { team: 'a', env: 'dev' },
});
const cases: EvalCase[] = [
  { id: 'one', input: 'x', expected: {} },
  { id: 'two', input: 'y', expected: {}, trials: 7 },
];
const source = {
  suite,
  suitePath: '/s/suite.yaml',
  suiteRoot: '/s',
  cases,
  caseHashes: new Map([
    ['one', 'h1'],
    ['two', 'h2'],
  ]),
  hashes: { suite: 's', data: 'd', agent: 'abcdef0123456789' },
};
const now = new Date('2026-11-29T08:09:10Z');
const make = (options: Partial<EvaluationOptions> = {}): ReturnType<typeof newEvaluation> =>
  newEvaluation(source, { env: {}, now, suffix: 'x1', ...options });

test('the id names suite and time; the agent version is the start of its hash', () => {
  expect(make()).toMatchObject({
    id: 'energie-co-20261129-080910-x1',
    agentVersion: 'abcdef012345',
    judgeHash: null,
    failFast: false,
  });
  expect(make({ id: 'mine' }).id).toBe('mine');
});

test.each([
  ['能源 评测（夜间）', '能源-评测-夜间'],
  ['Ｅ能源', 'e能源'],
  ['한국어 평가', '한국어-평가'],
  ['हिन्दी', 'हिन्दी'],
  ['Ärger mit ß & İ', 'arger-mit-ß-i'],
  ['😀 / ..', 'suite'],
  ['𠀀'.repeat(50), '𠀀'.repeat(40)],
])('the id of suite %j begins with %j', (name, begin) => {
  const { id } = newEvaluation({ ...source, suite: { ...suite, name } }, { env: {}, now, suffix: 'x' });
  expect(id).toBe(`${begin.normalize('NFC')}-20261129-080910-x`);
});

test('--trials speaks for every case, the options of a run for the suite', () => {
  const evaluation = make({ trials: 2, concurrency: 3, budgetUsd: 4, labels: { env: 'ci' }, baselineLabel: 'release' });
  expect(evaluation.cases.map((one) => one.trials)).toEqual([2, 2]);
  expect(evaluation.suite).toMatchObject({
    trials: 2,
    concurrency: 3,
    budget_usd: 4,
    labels: { team: 'a', env: 'ci' },
    regression: { label: 'release' },
  });
  expect(make().cases.map((one) => one.trials)).toEqual([undefined, 7]);
  // The loaded suite itself is left as it was.
  expect(suite).toMatchObject({ trials: 1, labels: { team: 'a', env: 'dev' }, regression: { label: 'main' } });
});

test('a selection of cases has a data hash of its own, the same selection the same', () => {
  const [first] = cases;
  const some = make({ cases: first === undefined ? [] : [first] });
  expect(make().hashes.data).toBe('d');
  expect(some.hashes.data).not.toBe('d');
  expect(make({ cases: first === undefined ? [] : [first] }).hashes.data).toBe(some.hashes.data);
});

test.each([
  [{}, true],
  [{ OPENAI_API_KEY: '' }, true],
  [{ OPENAI_API_KEY: 'sk' }, false],
  [{ OPENAI_BASE_URL: 'http://x/v1' }, false],
])('with %j the scripted model answers: %s', (env, offline) => {
  expect(isOffline(suite, env)).toBe(offline);
  const { offline_model: _, ...without } = suite;
  expect(isOffline(without, env)).toBe(false);
});
