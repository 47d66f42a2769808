import type { Score } from '../core/score.ts';
import type { Trajectory } from '../core/trajectory.ts';
import type { VerdictCache } from '../judge/cache.ts';
import { judgeTrial, type JudgeTrialResult } from '../judge/judge-trial.ts';
import { openDimensions } from '../scorers/judged.ts';
import type { ActivityDeps } from './deps.ts';
import type { EvaluationContext } from './evaluation-context.ts';
import type { HandOver } from './hand-over.ts';
import type { JudgeContext } from './judge-context.ts';
import { createJudgeStep, endTrial } from './judge-step.ts';
import type { Step } from './step.ts';
import type { TrialStep } from './trial-step.ts';

/** Scores a stored trajectory (deterministic scorers, then every judge dimension of the trial at once) and ends the trial. */
export function createJudgeTrial(
  deps: ActivityDeps,
  contextOf: (evaluationId: string, revision: number) => Promise<EvaluationContext>,
  handOver: HandOver,
): Step {
  return createJudgeStep(deps, contextOf, handOver, async ({ step, trajectory, deterministic }) => {
    const judged = await askJudge(deps, step, trajectory, deterministic);
    const spent = step.model.spent('judge');
    const money = { judge_cost_usd: spent.costUsd, judge_tokens: spent.tokens };
    return endTrial(deps, step, { deterministic, judged, money, error: null, calls: step.model.takeUnrecorded() });
  });
}

/** Asks for every dimension that the deterministic scores leave open. */
async function askJudge(
  deps: ActivityDeps,
  step: TrialStep,
  trajectory: Trajectory,
  deterministic: readonly Score[],
): Promise<JudgeTrialResult> {
  const { suite, judge } = step.context;
  if (judge === null || suite.judge === null) return { drafts: [], verdicts: [] };
  return judgeTrial({
    evalCase: step.evalCase,
    trajectory,
    config: suite.judge,
    dimensions: openDimensions(step.evalCase, suite, deterministic),
    subAgents: suite.sub_agents ?? [],
    prompts: judge.prompts,
    model: step.model,
    signal: step.signal,
    callTimeoutMs: suite.limits.call_timeout_ms,
    cache: verdictCache(deps, step, judge.endpointOf),
  });
}

/** null: verdicts are neither taken from the cache nor kept there. */
function verdictCache(
  deps: ActivityDeps,
  { key, model }: TrialStep,
  endpointOf: JudgeContext['endpointOf'],
): VerdictCache | null {
  if (endpointOf === null) return null;
  return {
    lookup: deps.readVerdicts,
    endpointOf,
    trialIndex: key.trial_index,
    journaled: (dimension, vote) => model.journaled({ role: 'judge', path: '', dimension, vote, sequence: 0 }),
  };
}
