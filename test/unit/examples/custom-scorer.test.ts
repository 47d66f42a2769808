import path from 'node:path';
import { expect, test } from 'vitest';
import { registerLint } from '../../../src/commands/suites/lint.ts';
import { registerScore } from '../../../src/commands/suites/score.ts';
import { runCommand } from '../commands/command-harness.ts';
import { readScript } from '../../../src/scripted-model/read-script.ts';
import { EXAMPLES, loadExample, runExample } from './run-example.ts';

const cwd = path.join(EXAMPLES, 'custom-scorer');

test('examples/custom-scorer has no problems', async () => {
  const run = await runCommand(registerLint, ['lint', 'suite.yaml'], { cwd });
  expect(run).toMatchObject({ stdout: '4 cases, no problems\n', exitCode: 0 });
});

test('examples/custom-scorer: recorded answers are scored by the suite’s own scorers', async () => {
  const files = ['--cases', 'cases.yaml', '--trajectories', 'recorded.jsonl'];
  const run = await runCommand(registerScore, ['score', '--suite', 'suite.yaml', ...files], { cwd });
  const lines = run.stdout.trim().split('\n');
  const seen = lines.map((line) => {
    const { caseId, trial, passed, scores } = JSON.parse(line) as {
      caseId: string;
      trial: number;
      passed: boolean;
      scores: { scorer: string; value: number; passed: boolean; deciding: boolean; reason: string }[];
    };
    const own = scores.filter(({ scorer }) => scorer === 'citations' || scorer === 'brevity');
    return [caseId, trial, passed, own.map((one) => [one.scorer, one.value, one.passed, one.deciding, one.reason])];
  });
  const short = (words: number) => ['brevity', 1, true, false, `${words} words, at most 25 wanted`];
  expect(seen).toEqual([
    ['leave-days', 1, true, [['citations', 1, true, true, 'cites 1 of 1 expected documents'], short(5)]],
    ['leave-days', 2, false, [['citations', 0, false, true, 'cites 0 of 1 expected documents'], short(4)]],
    [
      'hotel-limit',
      1,
      false,
      [['citations', 0, false, true, 'cites hotels-7, which the case does not have'], short(4)],
    ],
  ]);
});

test('examples/custom-scorer: passes, with one flaky case, and every trial has a verdict', async () => {
  const loaded = await loadExample('custom-scorer');
  const { trials, verdict } = await runExample(loaded, await readScript(path.join(cwd, 'model.yaml')));
  const notPassed = trials.filter(({ status }) => status !== 'passed');
  expect(notPassed.map((one) => [one.evalCase.id, one.trialIndex, one.status])).toEqual([
    ['ticket-class', 2, 'failed'],
  ]);
  expect(verdict).toMatchObject({ exit_code: 0 });
}, 60_000);
