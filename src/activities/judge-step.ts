import type { Score } from '../core/score.ts';
import { failureReason, trialStatus } from '../core/trial.ts';
import type { Trajectory } from '../core/trajectory.ts';
import { loadTrajectory, loadTrialSpend } from '../db/trial-reads.ts';
import type { JournalEntry } from '../db/trial-rows.ts';
import type { JudgeTrialResult } from '../judge/judge-trial.ts';
import type { JudgeDraft } from '../judge/verdict.ts';
import { finaliseScores, judgeDimensionsFor } from '../scorers/index.ts';
import type { TrialStepInput, TrialStepResult } from './contract.ts';
import type { ActivityDeps } from './deps.ts';
import { deterministicScores } from './deterministic-scores.ts';
import type { EvaluationContext } from './evaluation-context.ts';
import type { HandedOver, HandOver } from './hand-over.ts';
import type { Step } from './step.ts';
import { finishTrial, type GivenUp, runTrialStep, type TrialStep } from './trial-step.ts';

/** What a step after the agent's has to work on. */
export interface ScoredStep {
  step: TrialStep;
  input: TrialStepInput;
  /** What the agent's step of this process left; null: the trial was claimed anew. */
  handed: HandedOver | null;
  trajectory: Trajectory;
  deterministic: Score[];
}

/**
 * The frame of the steps after the agent's: the stored trajectory (read back unless the agent's step ran here just now) with
 * its deterministic scores. A step that is given up ends the trial with these.
 */
export function createJudgeStep(
  deps: ActivityDeps,
  contextOf: (evaluationId: string, revision: number) => Promise<EvaluationContext>,
  handOver: HandOver,
  work: (scored: ScoredStep) => Promise<TrialStepResult>,
): Step {
  return (input, lane) => {
    const handed = handOver.take(input);
    return runTrialStep(deps, contextOf, input, {
      role: 'judge',
      handed,
      lane,
      async work(step) {
        const trajectory = handed?.trajectory ?? (await storedTrajectory(deps, step));
        const deterministic = await deterministicScores(step, trajectory, step.claim.cost_usd, step.signal);
        return work({ step, input, handed, trajectory, deterministic });
      },
      giveUp: (trial, error) => endWithoutJudge(deps, trial, error, handed),
    });
  };
}

/** The judge failed, not the agent: what the deterministic scorers found stands, a safety violation above all. */
export async function endWithoutJudge(
  deps: ActivityDeps,
  trial: GivenUp,
  error: { kind: string; message: string },
  handed: HandedOver | null,
): Promise<TrialStepResult> {
  const trajectory = handed?.trajectory ?? (await storedTrajectory(deps, trial));
  const judged = { drafts: judgeFailed(trial, error), verdicts: [] };
  const { judge_cost_usd, judge_tokens } = await loadTrialSpend(deps.db, trial.key);
  const deterministic = await deterministicScores(trial, trajectory, trial.claim.cost_usd);
  const money = { judge_cost_usd, judge_tokens };
  return endTrial(deps, trial, { deterministic, judged, money, error, calls: [] });
}

/** The trajectory the agent's step has stored. */
async function storedTrajectory(deps: ActivityDeps, { key }: GivenUp): Promise<Trajectory> {
  const trajectory = await loadTrajectory(deps.db, key);
  if (trajectory === null) throw new Error(`trial ${key.case_id}/${key.trial_index} has no trajectory to judge`);
  return trajectory;
}

/** Unscored, with the cause, in every dimension the trial needed. */
function judgeFailed(trial: GivenUp, error: { kind: string; message: string }): JudgeDraft[] {
  return judgeDimensionsFor(trial.evalCase, trial.context.suite).map((dimension) => ({
    scorer: dimension,
    dimension,
    value: null,
    passed: null,
    reason: `the judge gave no verdict: ${error.kind}: ${error.message}`,
    details: { unscored_cause: error.kind },
  }));
}

/** Ends a trial whose trajectory is stored. */
export async function endTrial(
  deps: ActivityDeps,
  trial: GivenUp,
  end: {
    deterministic: readonly Score[];
    judged: JudgeTrialResult;
    money: { judge_cost_usd: number | null; judge_tokens: number | null };
    error: { kind: string; message: string } | null;
    calls: JournalEntry[];
  },
): Promise<TrialStepResult> {
  const { evalCase, context } = trial;
  const { deterministic, judged } = end;
  const scores: Score[] = finaliseScores({ deterministic, judged: judged.drafts, evalCase, suite: context.suite });
  const status = trialStatus(scores) ?? 'unscored';
  const { error, calls, money } = end;
  const last = { status, error, trajectory: null, cost_usd: null, ...money, scores, verdicts: judged.verdicts, calls };
  return finishTrial(deps, trial, last, failureReason(scores));
}
