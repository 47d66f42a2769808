import { readFile, readdir } from 'node:fs/promises';
import path from 'node:path';
import { parse } from 'yaml';
import { expect, test } from 'vitest';
import { registerInit } from '../../../src/commands/suites/init.ts';
import { registerLint } from '../../../src/commands/suites/lint.ts';
import { loadSuite } from '../../../src/datasets/load-suite.ts';
import { readScript } from '../../../src/scripted-model/read-script.ts';
import { folderWith } from '../datasets/temporary-folder.ts';
import { runExample } from '../examples/run-example.ts';
import { runCommand } from './command-harness.ts';

test('what init writes is sound, and every case passes on its offline model', async () => {
  const cwd = await folderWith({});
  const run = await runCommand(registerInit, ['init', 'evals'], { cwd });
  expect(run.stdout).toContain('assay run evals/suite.yaml');
  const lint = await runCommand(registerLint, ['lint', 'evals/suite.yaml'], { cwd });
  expect(lint).toMatchObject({ exitCode: 0, stdout: '10 cases, no problems\n' });
  const loaded = await loadSuite('evals/suite.yaml', { env: {}, cwd });
  const script = await readScript(path.join(loaded.suiteRoot, loaded.suite.offline_model ?? ''));
  const { trials, verdict, stats } = await runExample(loaded, script);
  const notPassed = trials.filter((trial) => trial.status !== 'passed');
  expect(notPassed.map((trial) => [trial.evalCase.id, trial.scores.filter((score) => score.passed === false)])).toEqual(
    [],
  );
  expect(trials).toHaveLength(30);
  expect(verdict.exit_code).toBe(0);
  expect(stats.byRule).not.toHaveProperty('default');
  // Every rule of the script is there for a case.
  expect(script.rules.map((rule) => rule.name).filter((name) => stats.byRule[name ?? ''] === undefined)).toEqual([]);
});

test('the module agent it writes loads and answers', async () => {
  const cwd = await folderWith({});
  await runCommand(registerInit, ['init'], { cwd });
  const suite = await readFile(path.join(cwd, 'suite.yaml'), 'utf8');
  expect(suite).toContain('# agent: { type: module, path: agent.ts }');
  const module = (await import(path.join(cwd, 'agent.ts'))) as {
    default: (
      input: string,
      context: { tools: Record<string, (args: unknown) => Promise<unknown>> },
    ) => Promise<string>;
  };
  const tools = { get_order: (): Promise<unknown> => Promise.resolve({ status: 'shipped', total: 1 }) };
  expect(await module.default('Where is A-100?', { tools })).toBe('Order A-100 is shipped.');
  expect(await module.default('I want my money back.', { tools })).toBe('What is your order number?');
});

interface Workflow {
  name: string;
  jobs: { evaluate: { defaults?: unknown; steps: { run?: string }[] } };
}

async function workflowOf(cwd: string, file: string): Promise<Workflow & { runs: string[] }> {
  const workflow = parse(await readFile(path.join(cwd, file), 'utf8')) as Workflow;
  return { ...workflow, runs: workflow.jobs.evaluate.steps.flatMap((step) => step.run ?? []) };
}

test('the CI workflow lints before it runs', async () => {
  const cwd = await folderWith({ '.git/HEAD': '', 'package.json': '{}', 'package-lock.json': '{}' });
  const run = await runCommand(registerInit, ['init'], { cwd });
  const workflow = await workflowOf(cwd, '.github/workflows/assay.yml');
  expect(workflow.name).toBe('agent evaluation');
  expect(workflow.jobs.evaluate.defaults).toBeUndefined();
  expect(workflow.runs).toEqual(['npm ci', 'npx assay lint suite.yaml', 'npx assay run suite.yaml']);
  expect(run.stdout).not.toMatch(/Git repository|package\.json/);
});

test('in a folder of a repository the workflow goes to its root and finds the suite from there', async () => {
  const cwd = await folderWith({ '.git/HEAD': '', 'package.json': '{}' });
  const run = await runCommand(registerInit, ['init', 'evals'], { cwd });
  expect(run.stdout).toContain('  .github/workflows/assay-evals.yml  the evaluation in CI');
  const workflow = await workflowOf(cwd, '.github/workflows/assay-evals.yml');
  expect(workflow.name).toBe('agent evaluation: evals');
  expect(workflow.runs).toEqual(['npm install', 'npx assay lint evals/suite.yaml', 'npx assay run evals/suite.yaml']);
  await expect(readdir(path.join(cwd, 'evals'))).resolves.not.toContain('.github');
});

test('npm works where package.json is, the workflow stays at the root of the repository', async () => {
  const cwd = await folderWith({ '.git': 'gitdir: elsewhere', 'packages/bot/package.json': '{}' });
  await runCommand(registerInit, ['init', 'my evals'], { cwd: path.join(cwd, 'packages/bot') });
  const workflow = await workflowOf(cwd, '.github/workflows/assay-packages-bot-my-evals.yml');
  expect(workflow.jobs.evaluate.defaults).toEqual({ run: { 'working-directory': 'packages/bot' } });
  expect(workflow.runs.at(-1)).toBe("npx assay run 'my evals/suite.yaml'");
});

test('without a repository or a package.json it says what is missing', async () => {
  const run = await runCommand(registerInit, ['init', 'evals'], { cwd: await folderWith({}) });
  expect(run.stdout).toContain('evals/.github/workflows/assay.yml');
  expect(run.stdout).toContain('in no Git repository');
  expect(run.stdout).toContain('no package.json');
});

test('refuses to overwrite, writing nothing; --force overwrites', async () => {
  const cwd = await folderWith({ 'cases.yaml': 'mine' });
  await expect(runCommand(registerInit, ['init'], { cwd })).rejects.toMatchObject({
    message: 'This folder already has cases.yaml',
    hint: expect.stringContaining('--force') as string,
    exitCode: 2,
  });
  expect(await readdir(cwd)).toEqual(['cases.yaml']);
  const run = await runCommand(registerInit, ['init', '--force', '--json'], { cwd });
  expect((JSON.parse(run.stdout) as { files: string[] }).files).toContain('suite.yaml');
  expect(await readFile(path.join(cwd, 'cases.yaml'), 'utf8')).not.toBe('mine');
});
