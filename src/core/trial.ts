import type { Score } from './score.ts';

/**
 * How a trial ended.
 * `failed`: a deciding score failed. `unscored`: a deciding score is null. `errored`: no trajectory (infrastructure).
 * A trial that has not ended has no row marked final and no status here.
 */
const TRIAL_STATUSES = ['passed', 'failed', 'unscored', 'errored', 'canceled'] as const;
export type TrialStatus = (typeof TRIAL_STATUSES)[number];

export type Layer = 'L1' | 'L2' | 'L3';

/** A trial is named by its evaluation, the position of its case and its repetition. */
export interface TrialKey {
  evaluation_id: string;
  case_id: string;
  /** 1-based. */
  trial_index: number;
}

/** The status the scores of a trajectory give; `null` when no score decides (recorded trajectories without a judge). */
export function trialStatus(scores: readonly Score[]): 'passed' | 'failed' | 'unscored' | null {
  const deciding = scores.filter((score) => score.deciding);
  if (scores.some((score) => score.violation)) return 'failed';
  if (deciding.length === 0) return null;
  if (deciding.some((score) => score.passed === false)) return 'failed';
  if (deciding.some((score) => score.passed === null)) return 'unscored';
  return 'passed';
}

/** Why a trial did not pass: the reason of the score that gave its status, see {@link trialStatus}. */
export function failureReason(scores: readonly Score[]): string {
  const because =
    scores.find((score) => score.violation) ??
    scores.find((score) => score.deciding && score.passed === false) ??
    scores.find((score) => score.deciding && score.passed === null);
  return because?.reason ?? 'no deciding score';
}
