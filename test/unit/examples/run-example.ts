import path from 'node:path';
import { createModelClient } from '../../../src/agents/openai/openai-client.ts';
import { createOpenAiAgent } from '../../../src/agents/openai/openai-agent.ts';
import type { EvalCase } from '../../../src/core/case.ts';
import type { CaseResult, EvaluationResult, GateResult, TrialRecord, Verdict } from '../../../src/core/evaluation.ts';
import { evaluateGates, verdictOf } from '../../../src/core/gate.ts';
import type { TrialModel } from '../../../src/core/model.ts';
import type { Score } from '../../../src/core/score.ts';
import { costOf } from '../../../src/core/price.ts';
import { latencyMs } from '../../../src/core/trajectory.ts';
import type { Trajectory } from '../../../src/core/trajectory.ts';
import { trialStatus } from '../../../src/core/trial.ts';
import type { TrialStatus } from '../../../src/core/trial.ts';
import { createCustomScorers, type CustomScorers } from '../../../src/custom-scorers/custom-scorers.ts';
import { loadSuite } from '../../../src/datasets/load-suite.ts';
import type { LoadedSuite } from '../../../src/datasets/load-suite.ts';
import { sleep } from '../../../src/agents/sleep.ts';
import { judgeTrial } from '../../../src/judge/judge-trial.ts';
import { loadPrompts } from '../../../src/judge/load-prompts.ts';
import type { PromptSet } from '../../../src/judge/prompt.ts';
import { finaliseScores, scoreTrial } from '../../../src/scorers/index.ts';
import type { ScoreDraft } from '../../../src/scorers/scorer.ts';
import { openDimensions } from '../../../src/scorers/judged.ts';
import type { Script } from '../../../src/scripted-model/script.ts';
import { startScriptedModel } from '../../../src/scripted-model/server.ts';
import type { ScriptedModelStats } from '../../../src/scripted-model/statistics.ts';
import { createAggregator } from '../../../src/statistics/aggregate.ts';
import { caseFacts } from '../../../src/statistics/case-facts.ts';
import { compareCaseIds } from '../../../src/statistics/case-order.ts';
import { reduceCase } from '../../../src/statistics/reduce.ts';

export const EXAMPLES = path.resolve(import.meta.dirname, '../../../examples');

/** Folders of examples/ that are suites on the scripted model. */
export const EXAMPLE_SUITES = ['energy', 'ops', 'rubric', 'safety', 'six-dimensions', 'checks'] as const;

/** A delay that a time-out is meant to cut short: waited for, so that the time-out comes first. */
const LONG_MS = 5_000;

interface ExampleTrial {
  evalCase: EvalCase;
  trialIndex: number;
  trajectory: Trajectory;
  scores: Score[];
  status: TrialStatus;
}

export interface ExampleRun {
  loaded: LoadedSuite;
  trials: ExampleTrial[];
  cases: Map<string, CaseResult>;
  result: EvaluationResult;
  gates: GateResult[];
  verdict: Verdict;
  stats: ScriptedModelStats;
}

export function loadExample(name: string, suite = 'suite.yaml'): Promise<LoadedSuite> {
  return loadSuite(path.join(EXAMPLES, name, suite), { env: {} });
}

/** Evaluates a suite in this process: the built-in agent and the judge over HTTP, then scorers, statistics and gates. */
export async function runExample(loaded: LoadedSuite, script: Script): Promise<ExampleRun> {
  const { suite } = loaded;
  const server = await startScriptedModel({ script, delayMs: 0 });
  try {
    const client = createModelClient({ baseUrl: server.url, apiKey: null });
    const model: TrialModel = { complete: (request, options) => client.complete(request, options) };
    const prompts = await loadPrompts(null, suite.judge?.language ?? 'en');
    const trials: ExampleTrial[] = [];
    for (const evalCase of loaded.cases) {
      const indices = Array.from({ length: evalCase.trials ?? suite.trials }, (_, i) => i + 1);
      trials.push(...(await Promise.all(indices.map((index) => runTrial(loaded, evalCase, index, model, prompts)))));
    }
    return { loaded, trials, stats: server.stats(), ...summarise(loaded, trials) };
  } finally {
    await server.close();
  }
}

async function ownScores(
  { suite, suiteRoot }: LoadedSuite,
  input: Parameters<CustomScorers['score']>[0],
  signal: AbortSignal,
): Promise<ScoreDraft[]> {
  if (suite.scorers === undefined) return [];
  const scorers = createCustomScorers(suite.scorers, { suiteRoot, env: process.env, maxProcesses: 1 });
  try {
    return await scorers.score(input, signal);
  } finally {
    await scorers.close();
  }
}

async function runTrial(
  loaded: LoadedSuite,
  evalCase: EvalCase,
  trialIndex: number,
  model: TrialModel,
  prompts: PromptSet,
): Promise<ExampleTrial> {
  const { suite, suiteRoot } = loaded;
  const { signal } = new AbortController();
  // Time passes where a mock takes it, and is not waited for: a tool's delay is latency all the same.
  // Any time but 0, which stands for a trajectory without times.
  let clock = Date.UTC(2026, 0, 1);
  const agent = createOpenAiAgent({
    sleep: (ms, until) => {
      if (ms >= LONG_MS) return sleep(ms, until);
      clock += ms;
      return Promise.resolve();
    },
  });
  const trajectory = await agent.run({ evalCase, trialIndex, suite, suiteRoot, model, signal, now: () => clock });
  const costUsd = costOf(trajectory.usage, trajectory.model, suite.prices);
  const own = await ownScores(loaded, { evalCase, trajectory, suite }, signal);
  const deterministic = scoreTrial({ evalCase, trajectory, suite, costUsd }, own);
  const dimensions = openDimensions(evalCase, suite, deterministic);
  const judged =
    suite.judge === null
      ? []
      : (await judgeTrial({ evalCase, trajectory, config: suite.judge, dimensions, prompts, model, signal })).drafts;
  const scores = finaliseScores({ deterministic, judged, evalCase, suite });
  return { evalCase, trialIndex, trajectory, scores, status: trialStatus(scores) ?? 'unscored' };
}

function summarise(
  loaded: LoadedSuite,
  trials: ExampleTrial[],
): Pick<ExampleRun, 'cases' | 'result' | 'gates' | 'verdict'> {
  const { suite } = loaded;
  const aggregator = createAggregator();
  const cases = new Map<string, CaseResult>();
  const ordered = [...loaded.cases].sort((a, b) => compareCaseIds(a.id, b.id));
  for (const evalCase of ordered) {
    const records = trials.filter((trial) => trial.evalCase.id === evalCase.id).map(recordOf);
    const contentHash = loaded.caseHashes.get(evalCase.id)!;
    const result = reduceCase(caseFacts(evalCase, { suite, contentHash, trials: records.length }), records);
    cases.set(evalCase.id, result);
    aggregator.add(result);
  }
  const result = aggregator.finish();
  const gates = evaluateGates(result, cases.values(), null, suite);
  return { cases, result, gates, verdict: verdictOf(gates, { status: 'completed', stop: null }) };
}

function recordOf({ evalCase, trialIndex, trajectory, scores, status }: ExampleTrial): TrialRecord {
  return {
    case_id: evalCase.id,
    trial_index: trialIndex,
    status,
    final_status: trajectory.final_status,
    error_kind: null,
    error_message: null,
    scores,
    iterations: trajectory.iterations,
    tool_calls: trajectory.tool_calls.length,
    tokens: trajectory.usage.total,
    judge_tokens: 0,
    latency_ms: latencyMs(trajectory),
    cost_usd: 0,
    judge_cost_usd: 0,
  };
}
