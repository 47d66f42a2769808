import type { EvalCase, SubAgentDefinition } from '../core/case.ts';
import { isRetried, ModelError, stopsEvaluation } from '../core/errors.ts';
import type { TrialModel } from '../core/model.ts';
import type { JudgeConfig, JudgeDimension } from '../core/suite.ts';
import type { Trajectory } from '../core/trajectory.ts';
import { castVote, draftOf, lookUpBallots, prepareBallot } from './ballot.ts';
import type { VerdictCache } from './cache.ts';
import type { DimensionSpec } from './dimensions/dimension.ts';
import { DIMENSIONS } from './dimensions/dimensions.ts';
import type { PromptSet } from './prompt.ts';
import type { JudgeDraft, VerdictRecord } from './verdict.ts';

const DEFAULT_CALL_TIMEOUT_MS = 60_000;

export interface JudgeTrialInput {
  evalCase: EvalCase;
  trajectory: Trajectory;
  config: JudgeConfig;
  /** Which dimensions to judge; see `openDimensions` of the scorers. */
  dimensions: readonly JudgeDimension[];
  /** The suite's sub-agents, of cases that list none of their own. Default none. */
  subAgents?: readonly SubAgentDefinition[];
  prompts: PromptSet;
  /** Calls through here are journaled: a retried activity pays for none twice. */
  model: TrialModel;
  signal: AbortSignal;
  /** One model call, milliseconds. Default 60,000. */
  callTimeoutMs?: number;
  /** Verdicts of earlier evaluations. Default: none is looked up, none is marked to be stored. */
  cache?: VerdictCache | null;
}

export interface JudgeTrialResult {
  drafts: JudgeDraft[];
  verdicts: VerdictRecord[];
}

/**
 * Judges one trajectory in every dimension and vote, all at once. A dimension whose judge gives no usable verdict is unscored
 * (value and passed null, with its cause); it is never a 0 and never a pass.
 * @throws ModelError when a call failed in a way that is not the verdict's own; calls that succeeded stay in the journal.
 * Of several failures the one that stops the evaluation is thrown first, one that would be retried last.
 */
export async function judgeTrial(input: JudgeTrialInput): Promise<JudgeTrialResult> {
  const { evalCase, trajectory, subAgents = [] } = input;
  const subject = { evalCase, trajectory, subAgents };
  const unrecorded: JudgeDraft[] = [];
  const asked = input.dimensions
    .map((name) => DIMENSIONS[name])
    .filter((dimension) => {
      const missing = dimension.notRecorded?.(subject) ?? null;
      if (missing !== null) unrecorded.push(notRecordedDraft(dimension, missing));
      return missing === null;
    });
  const cache = input.cache ?? null;
  const ballots = asked.map((dimension) => prepareBallot(dimension, subject, { ...input, cache }));
  const asking = {
    cached: await lookUpBallots(cache, ballots),
    model: input.model,
    signal: input.signal,
    timeoutMs: input.callTimeoutMs ?? DEFAULT_CALL_TIMEOUT_MS,
  };
  const outcomes = await Promise.allSettled(
    ballots.flatMap((ballot) => ballot.votes.map((place) => castVote(ballot, place, asking))),
  );
  const failures = outcomes.filter((outcome) => outcome.status === 'rejected').map((outcome) => outcome.reason);
  if (failures.length > 0) {
    throw failures.reduce((worst: unknown, next: unknown) => (severity(next) > severity(worst) ? next : worst));
  }
  const verdicts = outcomes.filter((outcome) => outcome.status === 'fulfilled').map((outcome) => outcome.value);
  const drafts = ballots.map((ballot) => {
    const own = verdicts.filter((verdict) => verdict.dimension === ballot.dimension.name);
    return draftOf(ballot, own, input.config);
  });
  return { drafts: [...drafts, ...unrecorded], verdicts };
}

/** Nothing to judge is not scored and costs no call: a judge asked all the same would take it for a failure. */
function notRecordedDraft({ name }: DimensionSpec, missing: string): JudgeDraft {
  const details = { unscored_cause: 'not_recorded' };
  return { scorer: name, dimension: name, value: null, passed: null, reason: `not scored: ${missing}`, details };
}

function severity(error: unknown): number {
  if (!(error instanceof ModelError)) return 4;
  if (error.kind === 'aborted') return 3;
  if (stopsEvaluation(error.kind)) return 2;
  return isRetried(error.kind) ? 0 : 1;
}
