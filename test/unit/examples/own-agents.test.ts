import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { createAgent } from '../../../src/agents/index.ts';
import type { Trajectory } from '../../../src/core/trajectory.ts';
import { trialStatus } from '../../../src/core/trial.ts';
import { loadSuite } from '../../../src/datasets/load-suite.ts';
import { scoreTrial } from '../../../src/scorers/index.ts';
import { startScriptedModel } from '../../../src/scripted-model/server.ts';
import { EXAMPLES } from './run-example.ts';

interface Ran {
  trajectories: Map<string, Trajectory>;
  problems: unknown[];
  /** Of every case: its status, and why when it did not pass. */
  statuses: unknown[];
}

/** Runs every case of an example once, as `assay run` does. */
async function runExample(
  name: string,
  options: { env?: Record<string, string | undefined>; baseUrl?: string } = {},
): Promise<Ran> {
  const env = { PATH: process.env['PATH'], HOME: process.env['HOME'], ...options.env };
  const { suite, suiteRoot, cases, problems } = await loadSuite(path.join(EXAMPLES, 'agents', name, 'suite.yaml'), {
    env,
  });
  const baseUrl = options.baseUrl === undefined ? {} : { baseUrl: options.baseUrl, apiKey: 'offline' };
  const agent = createAgent(suite.agent, { suite, suiteRoot, env, ...baseUrl });
  const trajectories = new Map<string, Trajectory>();
  try {
    for (const evalCase of cases) {
      const trajectory = await agent.run({
        evalCase,
        trialIndex: 1,
        suite,
        suiteRoot,
        model: { complete: () => Promise.reject(new Error('no model is journaled here')) },
        signal: new AbortController().signal,
        now: () => Date.now(),
      });
      trajectories.set(evalCase.id, trajectory);
    }
  } finally {
    await agent.close();
  }
  const statuses = cases.flatMap((evalCase) => {
    const trajectory = trajectories.get(evalCase.id);
    if (trajectory === undefined) return [[evalCase.id, 'not run']];
    const scores = scoreTrial({ evalCase, trajectory, suite, costUsd: 0 });
    const status = trialStatus(scores);
    return status === 'passed' ? [] : [[evalCase.id, status, trajectory.final_status_reason, scores]];
  });
  return { trajectories, problems, statuses };
}

test('examples/agents/function: every case passes', async () => {
  const { problems, statuses, trajectories } = await runExample('function');
  expect(problems).toEqual([]);
  expect(statuses).toEqual([]);
  expect(trajectories.get('refund')?.tool_calls.map((call) => call.tool)).toEqual(['get_order', 'refund_order']);
}, 30_000);

test('examples/agents/http-service: every case passes; a wrong token stops', async () => {
  const module = (await import(pathToFileURL(path.join(EXAMPLES, 'agents/http-service/service.mjs')).href)) as {
    startService(token: string): Promise<{ url: string; close(): void }>;
  };
  const service = await module.startService('a-token-of-the-test');
  try {
    const env = { ORDER_AGENT_URL: service.url, ORDER_AGENT_TOKEN: 'a-token-of-the-test' };
    const { problems, statuses, trajectories } = await runExample('http-service', { env });
    expect(problems).toEqual([]);
    expect(statuses).toEqual([]);
    expect(trajectories.get('too-much')?.final_status).toBe('ESCALATED');
    const wrong = runExample('http-service', { env: { ...env, ORDER_AGENT_TOKEN: 'another-token-123' } });
    await expect(wrong).rejects.toMatchObject({ kind: 'unauthorized' });
  } finally {
    service.close();
  }
}, 30_000);

const hasPython = spawnSync('python3', ['--version']).status === 0;
if (!hasPython) console.warn('SKIPPED: no python3; examples/agents/python is not tested here');

describe.skipIf(!hasPython && process.env['CI'] === undefined)('examples/agents/python', () => {
  test('every case passes with the scripted model; tools, tokens and logs are recorded', async () => {
    const model = await startScriptedModel({
      scriptPath: path.join(EXAMPLES, 'agents/python/model.yaml'),
      delayMs: 0,
    });
    try {
      const { problems, statuses, trajectories } = await runExample('python', { baseUrl: model.url });
      expect(problems).toEqual([]);
      expect(statuses).toEqual([]);
      expect(trajectories.get('two-orders')?.tool_calls.map((call) => call.turn)).toEqual([0, 0]);
      expect(trajectories.get('refund')?.stderr).toBe('called get_order\ncalled refund_order');
      const told = [...trajectories.values()].reduce((sum, { usage }) => sum + (usage.total ?? 0), 0);
      const { input, output } = model.stats().tokens;
      expect(told).toBe(input + output);
    } finally {
      await model.close();
    }
  }, 60_000);
});
