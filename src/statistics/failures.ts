import type { TrialFailure, TrialRecord, TrialScore } from '../core/evaluation.ts';
import { atLeast } from '../core/score.ts';
import { brokeOff } from './no-answer.ts';
import { hasTrajectory } from './trial-metrics.ts';

/** The score that explains most comes first: what was done, then what came of it. Others stand between, by name. */
const EXPLAINS: Record<string, number> = { tool_match: 0, must_call: 1, task_completion: 9 };

function rank(score: TrialScore): number {
  if (score.violation) return -1;
  return EXPLAINS[score.scorer] ?? 5;
}

/** The score behind a failed or unscored trial, whatever order the scores were stored in. */
function decidingScore(trial: TrialRecord): TrialScore | null {
  const wanted = (score: TrialScore): boolean =>
    trial.status === 'failed'
      ? score.violation || (score.deciding && score.passed === false)
      : score.deciding && score.passed === null;
  const candidates = trial.scores.filter(wanted);
  candidates.sort((a, b) => rank(a) - rank(b) || (a.scorer < b.scorer ? -1 : 1));
  return candidates[0] ?? null;
}

/** Scores whose reason names a wrong call, the most exact first. */
const STEP_SCORES = ['tool_match', 'must_call', 'tool_args', 'tool_order', 'tool_names', 'tool_score'] as const;

function firstWrongStep(trial: TrialRecord, decidedBy: string | null): string | null {
  for (const name of STEP_SCORES) {
    const score = trial.scores.find((candidate) => candidate.scorer === name);
    if (score === undefined) continue;
    const wrong = score.passed === false || (score.value !== null && !atLeast(score.value, 1));
    if (wrong) return name === decidedBy || score.reason === '' ? null : score.reason;
  }
  return null;
}

const NOTHING_DECIDES =
  'no score decides this case: add expected.match, an outcome check or a judge, or name scores in decides';

/** Why a trial did not pass; null for one that passed, was canceled or did not end. */
export function failureOf(trial: TrialRecord): TrialFailure | null {
  const { trial_index, status } = trial;
  if (status === null || status === 'passed' || status === 'canceled') return null;
  if (status === 'errored') {
    const reason = [trial.error_kind, trial.error_message].filter((part) => part !== null && part !== '').join(': ');
    return { trial_index, status, reason: reason || 'no result, cause unknown', scorer: null, first_wrong_step: null };
  }
  const score = decidingScore(trial);
  // What an agent that broke off did not do has one cause: how it ended.
  if (brokeOff(trial) && score?.violation !== true) {
    return { trial_index, status, reason: `ended ${trial.no_answer}`, scorer: null, first_wrong_step: null };
  }
  const fallback = trial.error_message ?? NOTHING_DECIDES;
  return {
    trial_index,
    status,
    reason: score === null || score.reason === '' ? (score?.scorer ?? fallback) : score.reason,
    scorer: score?.scorer ?? null,
    first_wrong_step: firstWrongStep(trial, score?.scorer ?? null),
  };
}

/** Kind of error of an errored or unscored trial, `judge_unparsable` and the like included; null for others. */
export function errorKindOf(trial: TrialRecord): string | null {
  if (trial.status !== 'errored' && trial.status !== 'unscored') return null;
  if (trial.error_kind !== null) return trial.error_kind;
  if (!hasTrajectory(trial)) return 'unknown';
  const cause = /^[a-z]+(?:_[a-z]+)+/.exec(decidingScore(trial)?.reason ?? '');
  return cause?.[0] ?? 'unscored';
}
