import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ClosableAgent, createAgent } from '../../../src/agents/index.ts';
import type { Trajectory } from '../../../src/core/trajectory.ts';
import { trialStatus } from '../../../src/core/trial.ts';
import { loadSuite, type LoadedSuite } from '../../../src/datasets/load-suite.ts';
import { scoreTrial } from '../../../src/scorers/index.ts';
import { type ScriptedModel, startScriptedModel } from '../../../src/scripted-model/server.ts';
import { EXAMPLES } from './run-example.ts';

/** Agents written with real libraries, run as `assay run` does: child process, real HTTP, tools recorded by `wrap`. */
describe.each(['vercel-ai', 'openai-agents', 'langgraph'])('examples/agents/%s', (name) => {
  const folder = path.join(EXAMPLES, 'agents', name);
  let loaded: LoadedSuite;
  let model: ScriptedModel;
  let agent: ClosableAgent;
  const trajectories = new Map<string, Trajectory>();

  beforeAll(async () => {
    loaded = await loadSuite(path.join(folder, 'suite.yaml'), { env: {} });
    model = await startScriptedModel({ scriptPath: path.join(folder, 'model.yaml'), delayMs: 0 });
    const { suite, suiteRoot } = loaded;
    agent = createAgent(suite.agent, { suite, suiteRoot, baseUrl: model.url, apiKey: 'offline' });
    await Promise.all(
      loaded.cases.map(async (evalCase) => {
        const trajectory = await agent.run({
          evalCase,
          trialIndex: 1,
          suite,
          suiteRoot,
          model: { complete: () => Promise.reject(new Error('the agent has a client of its own')) },
          signal: new AbortController().signal,
          now: () => Date.now(),
        });
        trajectories.set(evalCase.id, trajectory);
      }),
    );
  }, 60_000);

  afterAll(async () => {
    await agent?.close();
    await model?.close();
  });

  test('loads without a problem, and every case passes', () => {
    expect(loaded.problems).toEqual([]);
    const statuses = loaded.cases.map((evalCase) => {
      const trajectory = trajectories.get(evalCase.id)!;
      const scores = scoreTrial({ evalCase, trajectory, suite: loaded.suite, costUsd: 0 });
      const why = scores.filter((score) => score.deciding && score.passed !== true).map((score) => score.reason);
      return [evalCase.id, trialStatus(scores), trajectory.final_status_reason, ...why];
    });
    expect(statuses).toEqual(loaded.cases.map(({ id }) => [id, 'passed', null]));
    expect(loaded.cases.length).toBeGreaterThanOrEqual(4);
  });

  test('its own tools are recorded with arguments, results, turns and times', () => {
    const refund = trajectories.get('refund')!;
    expect(refund.tool_calls.map(({ tool, args, turn, error }) => [tool, args, turn, error])).toEqual([
      ['get_order', { order_id: 'B-200' }, 0, null],
      ['refund_order', { order_id: 'B-200', amount: 30 }, 1, null],
    ]);
    expect(JSON.stringify(refund.tool_calls[0]?.result)).toContain('delivered');
    for (const call of refund.tool_calls) expect(call.ended_at_ms).toBeGreaterThanOrEqual(call.started_at_ms);
    // Calls the model made at once have no order among themselves.
    expect(trajectories.get('two-orders')!.tool_calls.map(({ turn }) => turn)).toEqual([0, 0]);
  });

  test('tells the tokens it used, as the endpoint counted them', () => {
    for (const { usage } of trajectories.values()) {
      expect(usage.input).toBeGreaterThan(0);
      expect(usage.output).toBeGreaterThan(0);
    }
    const told = [...trajectories.values()].reduce((sum, { usage }) => sum + (usage.total ?? 0), 0);
    const { input, output } = model.stats().tokens;
    expect(told).toBe(input + output);
  });
});
