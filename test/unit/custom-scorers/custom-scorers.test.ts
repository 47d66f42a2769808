import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { CustomScorerConfig } from '../../../src/core/suite.ts';
import { createCustomScorers, type CustomScorers } from '../../../src/custom-scorers/custom-scorers.ts';
import { UserError } from '../../../src/core/errors.ts';
import { scorerProblems } from '../../../src/custom-scorers/scorer-problems.ts';
import type { ScoreDraft } from '../../../src/scorers/scorer.ts';
import { evalCase, SUITE, trajectory } from '../scorers/fixtures.ts';

const MODULE = `
export default ({ evalCase, trajectory, suite, options }) => ({
  value: 0.25,
  passed: true,
  reason: [evalCase.id, trajectory.answer, suite.tools.length, options.word].join(' '),
});
export const later = async (input) => {
  await new Promise((resolve) => setTimeout(resolve, 5));
  return { value: 1, passed: true, reason: 'later' };
};
export const broken = () => { throw new RangeError('out of apples'); };
export const nan = () => ({ value: 0 / 0, passed: true, reason: 'r' });
export const loops = () => { for (;;); };
export const dies = () => process.exit(3);
export const stray = () => { setTimeout(() => { throw new Error('late'); }, 1); return new Promise(() => {}); };
export const env = () => ({ value: 1, passed: true, reason: JSON.stringify(process.env) });
export const notAFunction = 7;
let calls = 0;
export const counts = () => ({ value: 1, passed: true, reason: String((calls += 1)) });
`;

let folder: string;
const open = new Set<CustomScorers>();

beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'assay-scorers-'));
  writeFileSync(path.join(folder, 'scorers.mjs'), MODULE);
  writeFileSync(
    path.join(folder, 'typed.ts'),
    'export default (): object => ({ value: 1, passed: true, reason: "ts" });',
  );
  writeFileSync(path.join(folder, 'syntax.mjs'), 'export default () => {');
});
afterEach(async () => {
  await Promise.all([...open].map((scorers) => scorers.close()));
  open.clear();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function config(name: string, more: Partial<CustomScorerConfig> = {}): CustomScorerConfig {
  return { name, path: 'scorers.mjs', export: name, options: {}, decides: false, timeout_ms: 20_000, ...more };
}

function scorersOf(
  configs: CustomScorerConfig[],
  env: Record<string, string | undefined> = process.env,
): CustomScorers {
  const scorers = createCustomScorers(configs, { suiteRoot: folder, env, maxProcesses: 2 });
  open.add(scorers);
  return scorers;
}

function scoreWith(scorers: CustomScorers, signal = new AbortController().signal): Promise<ScoreDraft[]> {
  return scorers.score({ evalCase: evalCase({}), trajectory: trajectory([], { answer: 'yes' }), suite: SUITE }, signal);
}

describe('scorers of the user’s own', () => {
  test('are given case, trajectory, suite and options; TypeScript and async ones too', async () => {
    const configs = [
      config('mine', { export: 'default', options: { word: 'w' } }),
      config('later'),
      config('typed', { path: 'typed.ts', export: 'default' }),
    ];
    expect(await scoreWith(scorersOf(configs))).toEqual([
      { scorer: 'mine', dimension: null, value: 0.25, passed: true, reason: 'c yes 0 w', details: null },
      { scorer: 'later', dimension: null, value: 1, passed: true, reason: 'later', details: null },
      { scorer: 'typed', dimension: null, value: 1, passed: true, reason: 'ts', details: null },
    ]);
  });

  test.each([
    ['broken', /it threw RangeError: out of apples \(scorers\.mjs:\d+:\d+\)/],
    ['nan', /it returned value "\(NaN\)"/],
    ['dies', /the scorer's module's process exited with code 3/],
    ['stray', /exited with code 1/],
  ])('%s: a null score with the cause, and the next one is scored', async (name, cause) => {
    const scorers = scorersOf([config(name), config('later')]);
    for (let trial = 0; trial < 2; trial += 1) {
      const [bad, good] = await scoreWith(scorers);
      expect(bad).toMatchObject({ scorer: name, value: null, passed: null });
      expect(bad?.reason).toMatch(cause);
      expect(good).toMatchObject({ scorer: 'later', value: 1 });
    }
  });

  test.each([
    ['notAFunction', 'scorers.mjs', /expected a function as export notAFunction; the module exports broken/],
    ['syntax', 'syntax.mjs', /SyntaxError/],
    ['missing', 'missing.mjs', /missing\.mjs/],
  ])(
    '%s: one that cannot be loaded is refused, before a run and in a trial; it is no score',
    async (name, file, why) => {
      const configs = [config(name, { path: file }), config('later')];
      const refused = new RegExp(`^scorers: "${name}": the module .*cannot be loaded: .*${why.source}`);
      await expect(scoreWith(scorersOf(configs))).rejects.toThrow(refused);
      await expect(scoreWith(scorersOf(configs))).rejects.toBeInstanceOf(UserError);
      const problems = await scorerProblems(configs, folder, process.env);
      expect(problems).toEqual([expect.stringMatching(refused)]);
    },
  );

  test('one that never yields is ended at its time limit and holds up nothing', async () => {
    const scorers = scorersOf([config('loops', { timeout_ms: 300 }), config('later')]);
    const [late, good] = await scoreWith(scorers);
    expect(late).toMatchObject({
      value: null,
      passed: null,
      reason: 'not scored: no score within timeout_ms (300 ms)',
    });
    expect(good).toMatchObject({ value: 1 });
  });

  test('a cancel ends it', async () => {
    const cancel = new AbortController();
    const running = scoreWith(scorersOf([config('loops')]), cancel.signal);
    setTimeout(() => cancel.abort(), 200);
    await expect(running).rejects.toMatchObject({ name: 'AbortError' });
  });

  test('processes are used again: the module is loaded once each', async () => {
    const scorers = scorersOf([config('counts')]);
    const reasons = [];
    for (let trial = 0; trial < 3; trial += 1) reasons.push((await scoreWith(scorers))[0]?.reason);
    expect(reasons).toEqual(['1', '2', '3']);
  });

  test('D9: they see no keys', async () => {
    const [seen] = await scoreWith(
      scorersOf([config('env')], { ...process.env, OPENAI_API_KEY: 'canary-4f1d9c2e77aa' }),
    );
    expect(seen?.value).toBe(1);
    expect(seen?.reason).toContain('PATH');
    expect(seen?.reason).not.toMatch(/canary-4f1d9c2e77aa|OPENAI/);
  });
});
