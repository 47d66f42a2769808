import { maskSecrets } from '../core/masked-secret.ts';
import { hasSubAgents } from '../core/sub-agents.ts';
import type { Trajectory } from '../core/trajectory.ts';
import { failureReason, trialStatus } from '../core/trial.ts';
import { releaseTrial } from '../db/model-failures.ts';
import { loadTrialSpend } from '../db/trial-reads.ts';
import { judgeDimensionsFor } from '../scorers/index.ts';
import { configuredSecrets } from './configured-secrets.ts';
import type { TrialStepInput, TrialStepResult } from './contract.ts';
import type { ActivityDeps } from './deps.ts';
import { deterministicScores } from './deterministic-scores.ts';
import type { EvaluationContext } from './evaluation-context.ts';
import type { HandOver } from './hand-over.ts';
import { endWithoutJudge } from './judge-step.ts';
import type { Step } from './step.ts';
import { finishTrial, type GivenUp, runTrialStep, type TrialStep } from './trial-step.ts';
import { timedOutByPostgres } from './timed-out-by-postgres.ts';

/** Runs the agent on one trial and stores its trajectory; a trial that needs no judge is scored and ended here. */
export function createRunAgent(
  deps: ActivityDeps,
  contextOf: (evaluationId: string, revision: number) => Promise<EvaluationContext>,
  handOver: HandOver,
): Step {
  return (input, lane) =>
    runTrialStep(deps, contextOf, input, {
      role: 'agent',
      handed: null,
      lane,
      work: (step) => agentStep(deps, step, input, handOver),
      // Of a trial that was killed with its judge the trajectory is there, and what the deterministic scorers find in it stands.
      giveUp: (trial, error) =>
        trial.claim.trajectory_fence === null
          ? storeErrored(deps, trial, error)
          : endWithoutJudge(deps, trial, error, null),
    });
}

async function agentStep(
  deps: ActivityDeps,
  step: TrialStep,
  input: TrialStepInput,
  handOver: HandOver,
): Promise<TrialStepResult> {
  const { suite } = step.context;
  const dimensions = judgeDimensionsFor(step.evalCase, suite);
  if (step.claim.trajectory_fence !== null) {
    await releaseTrial(deps.db, step.key, step.claim.fence);
    return { n: hasSubAgents(step.evalCase, suite, null) ? 'isolation' : 'judge' };
  }
  const made = await trajectoryOf(deps, step, input.trialIndex);
  if ('error' in made) return storeErrored(deps, step, made.error);
  const { trajectory } = made;
  const subAgents = hasSubAgents(step.evalCase, suite, trajectory);
  if (dimensions.length > 0 || subAgents) {
    const held = await deps.writer.saveTrajectory({
      key: step.key,
      fence: step.claim.fence,
      ...made,
      calls: step.model.takeUnrecorded(),
      goesOn: true,
    });
    const { fence } = step.claim;
    const claim = { ...step.claim, trajectory_fence: fence, cost_usd: made.cost_usd, first: true };
    if (held) handOver.put(input, { evalCase: step.evalCase, claim, trajectory });
    return { n: subAgents ? 'isolation' : 'judge' };
  }
  const scores = await deterministicScores(step, trajectory, made.cost_usd, step.signal);
  const status = trialStatus(scores) ?? 'unscored';
  const money = { judge_cost_usd: 0, judge_tokens: 0 };
  const calls = step.model.takeUnrecorded();
  const last = { ...made, status, error: null, ...money, scores, verdicts: [], calls };
  return finishTrial(deps, step, last, failureReason(scores));
}

type Made = { trajectory: Trajectory; cost_usd: number | null } | { error: { kind: string; message: string } };

/** What the agent does now, or, where an evaluation is scored again, what it did then and cost then. */
async function trajectoryOf(deps: ActivityDeps, step: TrialStep, trialIndex: number): Promise<Made> {
  const { sourceId } = step.context;
  if (sourceId === null) {
    const trajectory = await runAgent(deps, step, trialIndex);
    return { trajectory, cost_usd: step.model.spent('agent').costUsd };
  }
  const source = await deps.readSourceTrial({ ...step.key, evaluation_id: sourceId });
  if (source !== null && source.trajectory !== null)
    return { trajectory: source.trajectory, cost_usd: source.cost_usd };
  const why = source === null ? 'it does not have this trial' : (source.error_message ?? 'the trial did not end');
  return {
    error: { kind: source?.error_kind ?? 'no_trajectory', message: `no trajectory in ${sourceId} to score: ${why}` },
  };
}

/** A trial whose agent gave nothing to score. */
async function storeErrored(
  deps: ActivityDeps,
  trial: GivenUp,
  error: { kind: string; message: string },
): Promise<TrialStepResult> {
  const spend = await loadTrialSpend(deps.db, trial.key);
  const last = { status: 'errored' as const, error, trajectory: null, ...spend, scores: [], verdicts: [] };
  return finishTrial(deps, trial, last, error.message);
}

async function runAgent(deps: ActivityDeps, step: TrialStep, trialIndex: number): Promise<Trajectory> {
  const trajectory = await step.context.agent.run({
    evalCase: step.evalCase,
    trialIndex,
    suite: step.context.suite,
    suiteRoot: step.context.suiteRoot,
    model: step.model,
    signal: step.signal,
    now: step.model.now,
  });
  const failure = step.model.failure();
  if (failure !== null) throw failure;
  const limitMs = step.evalCase.timeout_ms ?? step.context.suite.limits.timeout_ms;
  const late = timedOutByPostgres(trajectory.final_status, step.model.waitedForJournal(), limitMs);
  if (late !== null) throw late;
  // Stored from here on: a key that the agent gave away is evidence, but only its mask may be kept.
  return maskSecrets(trajectory, configuredSecrets(step.context.suite, deps.config.env));
}
