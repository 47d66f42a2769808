import { expect, test } from 'vitest';
import { registerRun } from '../../../src/commands/run/run.ts';
import { runCommand } from './command-harness.ts';
import { folderWith } from '../datasets/temporary-folder.ts';

const SUITE = `name: tiny
kind: smoke
datasets: [cases.yaml]
offline_model: model.yaml
agent: { type: openai, model: m-1 }
judge: null
trials: 1
`;

async function dryRun(more: string, env: Record<string, string> = {}): Promise<string> {
  const cwd = await folderWith({
    'suite.yaml': SUITE + more,
    'cases.yaml': '- { id: a, input: Hi, expected: { answer_contains: [hi] } }\n',
    'model.yaml': 'rules: [{ reply: { text: hi } }]\n',
  });
  return (await runCommand(registerRun, ['run', 'suite.yaml', '--dry-run'], { cwd, env })).stdout;
}

const PRICES = 'prices: { m-1: { input: 1, output: 4 } }\n';

test('the estimate is what a run would print: the price list counts offline too, and is said to', async () => {
  const offline = await dryRun(PRICES);
  expect(offline).toContain('tiny: 1 case, 1 trial, ');
  expect(offline).toMatch(/cost +about \$0\.0027, as if priced: the scripted model costs nothing/);
  expect(await dryRun(PRICES, { OPENAI_API_KEY: 'k' })).toMatch(/cost +about \$0\.0027\n/);
});

test('a scorer that cannot be loaded refuses the run with what to mend', async () => {
  const refused = dryRun('scorers: [{ name: own, path: model.yaml }]\n');
  await expect(refused).rejects.toThrow(/^scorers: "own": the module .*model\.yaml cannot be loaded/);
  await expect(refused).rejects.toMatchObject({ exitCode: 2, hint: expect.stringContaining('exports a function') });
});

test('without a price nothing is claimed', async () => {
  expect(await dryRun('')).toMatch(/cost +unknown \(no price .*; the scripted model costs nothing/);
});

test('cases that nothing decides are named before anything is paid for', async () => {
  const cwd = await folderWith({
    'suite.yaml': SUITE,
    'cases.yaml': '- { id: a, input: Hi, expected: { criteria: Greets } }\n- { id: b, input: Hi, expected: {} }\n',
    'model.yaml': 'rules: [{ reply: { text: hi } }]\n',
  });
  const { stderr } = await runCommand(registerRun, ['run', 'suite.yaml', '--dry-run'], { cwd, env: {} });
  expect(stderr).toMatch(/^cases\.yaml:1:\d+: warning: case "a" and 1 more: no score decides/m);
});
