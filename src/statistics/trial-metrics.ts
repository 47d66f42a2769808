import { FURTHER_DIMENSIONS, METRICS } from '../core/evaluation.ts';
import type { TrialRecord } from '../core/evaluation.ts';
import { atLeast } from '../core/score.ts';

/** A number read from one trial; the evaluation's value is the mean over cases of the case's mean. */
export interface TrialMetric {
  metric: string;
  /** In [0,1]; others are counts, milliseconds, tokens, money. */
  unit: boolean;
  /** The score it is read from; null: from the trial itself, and it applies to every case. */
  scorer: string | null;
  /** Null = this trial has no value. Only called for trials with a trajectory. */
  read(trial: TrialRecord): number | null;
}

/** True for a trial whose agent came to an end: only these have values. */
export function hasTrajectory(trial: TrialRecord): boolean {
  return trial.status === 'passed' || trial.status === 'failed' || trial.status === 'unscored';
}

/** Value of a score by name: its value, else its verdict as 1 or 0; null when absent or not scored. */
export function scoreValue(trial: TrialRecord, scorer: string): number | null {
  const score = trial.scores.find((candidate) => candidate.scorer === scorer);
  if (score === undefined) return null;
  if (score.value !== null) return score.value;
  return score.passed === null ? null : Number(score.passed);
}

/** The metric that is the value of the score of that name. */
export function ofScore(metric: string): TrialMetric {
  return { metric, unit: true, scorer: metric, read: (trial) => scoreValue(trial, metric) };
}

function ofTrial(metric: string, unit: boolean, read: TrialMetric['read']): TrialMetric {
  return { metric, unit, scorer: null, read };
}

/** Agent and judge together, US dollars; null when either part is unknown. */
function trialCost(trial: TrialRecord): number | null {
  return trial.cost_usd === null || trial.judge_cost_usd === null ? null : trial.cost_usd + trial.judge_cost_usd;
}

const COMPLETION = 'task_completion';

export const TRIAL_METRICS: readonly TrialMetric[] = [
  {
    metric: 'completion_rate',
    unit: true,
    scorer: COMPLETION,
    read: (trial) => {
      const value = scoreValue(trial, COMPLETION);
      return value === null ? null : Number(atLeast(value, 1));
    },
  },
  {
    metric: 'partial_rate',
    unit: true,
    scorer: COMPLETION,
    read: (trial) => {
      // Not by the verdict: a completion that failed without a value may be partial or none at all.
      const value = trial.scores.find(({ scorer }) => scorer === COMPLETION)?.value ?? null;
      return value === null ? null : Number(value > 0 && !atLeast(value, 1));
    },
  },
  ofTrial('trial_pass_rate', true, (trial) => (trial.status === 'unscored' ? null : Number(trial.status === 'passed'))),
  ...['tool_score', 'tool_names', 'tool_args', 'tool_order', 'tool_match'].map(ofScore),
  ...['answer_quality', 'progress_rate', 'step_efficiency'].map(ofScore),
  ofTrial('mean_iterations', false, (trial) => trial.iterations),
  ofTrial('mean_tool_calls', false, (trial) => trial.tool_calls),
  ofTrial('mean_tokens', false, (trial) => trial.tokens),
  ofTrial('mean_latency_ms', false, (trial) => trial.latency_ms),
  ofTrial('cost_usd', false, trialCost),
  ...FURTHER_DIMENSIONS.map(ofScore),
];

/** Counts, milliseconds, tokens, money. */
const NOT_UNIT: ReadonlySet<string> = new Set([
  ...TRIAL_METRICS.filter((metric) => !metric.unit).map((metric) => metric.metric),
  'stability_stdev',
  'safety_violations',
]);

/** True for metrics in [0,1], those of the suite's own scorers among them. */
export function isUnitMetric(metric: string): boolean {
  return !NOT_UNIT.has(metric);
}

/** Every metric name an evaluation may have, in the order reports list them. */
export const METRIC_ORDER: readonly string[] = [...METRICS, ...FURTHER_DIMENSIONS];
