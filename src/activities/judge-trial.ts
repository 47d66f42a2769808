import { trialStatus } from '../core/trial.ts';
import { loadTrajectory } from '../db/trial-reads.ts';
import { judgeTrial } from '../judge/judge-trial.ts';
import { finaliseScores, judgeDimensionsFor, scoreTrial } from '../scorers/index.ts';
import type { TrialStepInput, TrialStepResult } from './contract.ts';
import type { ActivityDeps } from './deps.ts';
import type { EvaluationContext } from './evaluation-context.ts';
import type { RecentTrajectories } from './recent-trajectories.ts';
import { failureReason } from './run-agent.ts';
import { ended, runTrialStep } from './trial-step.ts';

/** Scores a stored trajectory (deterministic scorers, then every judge dimension of the trial at once) and ends the trial. */
export function createJudgeTrial(
  deps: ActivityDeps,
  contextOf: (evaluationId: string, revision: number) => Promise<EvaluationContext>,
  recent: RecentTrajectories,
): (input: TrialStepInput) => Promise<TrialStepResult> {
  return (input) =>
    runTrialStep(deps, contextOf, input, 'judge', async (step) => {
      const { suite, judge } = step.context;
      const trajectory =
        recent.take(step.key, step.claim.trajectory_fence) ?? (await loadTrajectory(deps.db, step.key));
      if (trajectory === null)
        throw new Error(`trial ${step.key.case_id}/${input.trialIndex} has no trajectory to judge`);
      const dimensions = judgeDimensionsFor(step.evalCase, suite);
      const costUsd = step.claim.cost_usd;
      const deterministic = scoreTrial({ evalCase: step.evalCase, trajectory, suite, costUsd });
      const judged =
        judge === null || suite.judge === null
          ? { drafts: [], verdicts: [] }
          : await judgeTrial({
              evalCase: step.evalCase,
              trajectory,
              config: suite.judge,
              dimensions,
              prompts: judge.prompts,
              model: step.model,
              signal: step.signal,
              callTimeoutMs: suite.limits.call_timeout_ms,
            });
      const scores = finaliseScores({ deterministic, judged: judged.drafts, evalCase: step.evalCase, suite });
      const spent = step.model.spent('judge');
      const status = trialStatus(scores) ?? 'unscored';
      await deps.writer.finish({
        key: step.key,
        fence: step.claim.fence,
        status,
        error: null,
        trajectory: null,
        cost_usd: null,
        judge_cost_usd: spent.costUsd,
        judge_tokens: spent.tokens,
        scores,
        verdicts: judged.verdicts,
      });
      return ended(step.context, step.key, status, failureReason(scores));
    });
}
