import type { Layer, TrialStatus } from './trial.ts';

/** `running` and `paused` go on by themselves; `stopped` (breaker, budget, fail-fast) and `canceled` wait for `resume`. */
export const EVALUATION_STATUSES = ['running', 'paused', 'completed', 'stopped', 'canceled'] as const;
export type EvaluationStatus = (typeof EVALUATION_STATUSES)[number];

export type StopKind =
  | 'unauthorized'
  | 'forbidden'
  | 'quota'
  | 'model_not_found'
  | 'endpoint_unreachable'
  | 'budget'
  | 'fail_fast'
  | 'no_progress'
  | 'invalid_setup'
  | 'terminated'
  | 'internal_error'
  | 'canceled';

/** Why an evaluation stopped early: one message for the user. */
export interface Stop {
  kind: StopKind;
  message: string;
}

/** Names of metrics, stable: they are rows of `evaluation_metric`, keys of gates and of JSON reports. */
export const METRICS = [
  'completion_rate',
  'partial_rate',
  'case_pass_rate',
  'trial_pass_rate',
  'tool_score',
  'tool_names',
  'tool_args',
  'tool_order',
  'tool_match',
  'answer_quality',
  'progress_rate',
  'step_efficiency',
  'stability_stdev',
  'safety_violations',
  'unscored_share',
  'mean_iterations',
  'mean_tool_calls',
  'mean_tokens',
  'mean_latency_ms',
  'cost_usd',
] as const;
/** Scores beyond METRICS: they become metrics of the evaluations that have them. */
export const FURTHER_DIMENSIONS = [
  'plan_quality',
  'plan_consistency',
  'tool_selection',
  'prompt_assembly',
  'subagent_isolation',
  'rag_recall',
  'answer_completeness',
  'multi_turn_coherence',
  'trajectory',
  'doc_recall',
  'doc_precision',
  'doc_mrr',
  'doc_ndcg',
] as const;

type MetricName = (typeof METRICS)[number] | (string & {});

/** Direction in which a metric gets better. */
export function higherIsBetter(metric: string): boolean {
  return ![
    'stability_stdev',
    'safety_violations',
    'unscored_share',
    'mean_iterations',
    'mean_tool_calls',
    'mean_tokens',
    'mean_latency_ms',
    'cost_usd',
  ].includes(metric);
}

/** A number about an evaluation, with what it is over. */
export interface Metric {
  metric: MetricName;
  value: number | null;
  /** 95 % interval; null where none is defined. */
  low: number | null;
  high: number | null;
  /** Cases with a value, of cases the metric applies to. */
  cases: number;
  cases_applicable: number;
  /** Scored trials, of planned trials the metric applies to: coverage. */
  trials: number;
  trials_applicable: number;
}

/** What the reducer needs of one trial. Times and attempt counts are left out: aggregates do not depend on them, latency excepted. */
export interface TrialRecord {
  case_id: string;
  trial_index: number;
  /** null: not run, or not ended. */
  status: TrialStatus | null;
  final_status: string | null;
  /**
   * How a trial came to end FAILED or TIMEOUT without an answer, such as `FAILED: the program ended …`. Null or left out:
   * it has an answer, ended otherwise, or so as its case wants it.
   */
  no_answer?: string | null;
  error_kind: string | null;
  error_message: string | null;
  scores: TrialScore[];
  iterations: number | null;
  tool_calls: number | null;
  tokens: number | null;
  judge_tokens: number | null;
  latency_ms: number | null;
  cost_usd: number | null;
  judge_cost_usd: number | null;
}

export interface TrialScore {
  scorer: string;
  dimension: string | null;
  value: number | null;
  passed: boolean | null;
  deciding: boolean;
  violation: boolean;
  reason: string;
  /** Of a judge that was asked several times about the trajectory: the value of each time, null where it gave none. */
  rounds?: (number | null)[];
}

/** Facts of a case that aggregation needs. */
export interface CaseFacts {
  case_id: string;
  content_hash: string;
  category: string | null;
  difficulty: string | null;
  dimension: string | null;
  tags: string[];
  /** Trials planned. */
  trials: number;
  /**
   * Metrics known to apply to the case before any trial ended (see `caseFacts` in statistics/case-facts.ts), so that a
   * case that never got a result still counts against coverage. Absent: taken from the scores its trials carry.
   */
  applies?: string[];
  /** Names of the suite's own scorers; left out: it has none. */
  own_scorers?: string[];
}

export interface MetricOfCase {
  /** Mean over scored trials; null when none is scored. */
  mean: number | null;
  /** Sample standard deviation (n-1); null for n < 2. */
  stdev: number | null;
  min: number | null;
  max: number | null;
  scored: number;
  applicable: number;
}

/** Why one trial did not pass. */
export interface TrialFailure {
  trial_index: number;
  status: TrialStatus;
  /** What decided: the reason of the deciding score, or the error. */
  reason: string;
  /** The score that decided; null for an errored trial. */
  scorer: string | null;
  /** The first wrong tool call, in words, where the deciding reason does not say it already. */
  first_wrong_step: string | null;
}

/** Trials reduced to one case. */
export interface CaseResult extends CaseFacts {
  outcome: 'passed' | 'failed' | 'flaky' | 'unscored';
  passed_trials: number;
  failed_trials: number;
  unscored_trials: number;
  errored_trials: number;
  canceled_trials: number;
  missing_trials: number;
  violations: number;
  /** By metric name; the suite's own scorers are metrics too. */
  metrics: Record<string, MetricOfCase>;
  /** pass@k and pass^k for k = 1..trials; null when k exceeds the scored trials. */
  pass_at_k: (number | null)[];
  pass_hat_k: (number | null)[];
  /** Completion by trial index (1, 0 or null), for stability. */
  completion_by_trial: (number | null)[];
  /** Latency by trial index, milliseconds, for percentiles; null where there is none. */
  latency_by_trial: (number | null)[];
  /** Lowest failing layer over failed trials. */
  layer: Layer | null;
  layers: Record<Layer, number>;
  /** One entry a failed, unscored or errored trial, by trial index. */
  failures: TrialFailure[];
  /** Failed trials that broke off without an answer, by how they ended (`FAILED: …`), with how many. Left out: none. */
  endings?: Record<string, number>;
  /** Plan quality and tool score over the other trials, means; only beside `endings`. */
  answered?: { plan_quality: number | null; tool_score: number | null };
  /** Distinct error kinds of errored and unscored trials, with how many. */
  error_kinds: Record<string, number>;
  /** By judge dimension, where trajectories were judged several times. */
  judge_rounds?: Record<string, JudgeRounds>;
  tokens: number | null;
  judge_tokens: number | null;
  cost_usd: number | null;
  judge_cost_usd: number | null;
}

/** Sums over the repeated judgings of one case in one dimension; trials without a verdict are left out. */
export interface JudgeRounds {
  trials: number;
  verdicts: number;
  /** Trials whose verdicts are not all the same. */
  differing: number;
  /** Squares around the mean of the trial. */
  within: number;
  /** Squares of the trials' means around the mean of the case, each times its verdicts. */
  between: number;
  /** N − Σ m² ÷ N, with m verdicts of a trial and N of the case. */
  weight: number;
}

/** How much of the spread of a judged score within a case is the judge's, and how much the agent's. */
export interface JudgeVariance {
  dimension: string;
  cases: number;
  trials: number;
  verdicts: number;
  differing_trials: number;
  /** Variance between judgings of one trajectory; null when none was judged twice with a verdict. */
  judge_variance: number | null;
  /** Variance between trials of a case without the judge's part; null with one trial a case. */
  agent_variance: number | null;
  /** The judge's part of both; null when it is not known, or nothing varies. */
  judge_share: number | null;
}

export interface GroupResult {
  by: 'category' | 'difficulty' | 'tag' | 'dimension' | 'layer';
  name: string;
  cases: number;
  metrics: Metric[];
}

export interface Stability {
  /** Completion rate by trial index. */
  by_trial: (number | null)[];
  mean: number | null;
  stdev: number | null;
  /** What within-case variation alone would give: sqrt(sum p(1-p)) / cases. */
  expected_stdev: number | null;
  mean_within_case_stdev: number | null;
}

/** Failed trials whose agent ended FAILED or TIMEOUT without an answer. */
export interface NoAnswer {
  trials: number;
  /** The most frequent ending, `FAILED: why`; texts that differ in numbers only count as one. */
  ending: string;
  /** Trials that ended so. */
  ending_trials: number;
  /** The cases with most of them first, at most 20. */
  case_ids: string[];
  /** How many cases there are in all. */
  cases: number;
}

export interface Diagnosis {
  layer: Layer | 'agent' | 'all' | 'infrastructure' | 'rubric' | 'suite';
  symptom: string;
  action: string;
  /** Worst first, at most 20. */
  case_ids: string[];
  /** How many cases there are in all. */
  cases: number;
}

/** Everything the report says of an evaluation that does not depend on a baseline. */
export interface EvaluationResult {
  cases: number;
  planned_trials: number;
  counts: Record<TrialStatus | 'missing', number>;
  case_outcomes: Record<CaseResult['outcome'], number>;
  metrics: Metric[];
  groups: GroupResult[];
  stability: Stability | null;
  pass_at_k: (number | null)[];
  pass_hat_k: (number | null)[];
  layers: Record<Layer, number>;
  iterations_max: number | null;
  latency_ms: { p50: number | null; p90: number | null; p99: number | null };
  tokens: { agent: number | null; judge: number | null };
  cost_usd: { agent: number | null; judge: number | null };
  /** Distinct error kinds of errored and unscored trials, with how many. */
  error_kinds: Record<string, number>;
  diagnosis: Diagnosis[];
  /** The metrics of the suite's own scorers once more, by name. Left out: it has none. */
  own_scores?: Metric[];
  /** Left out: there are none. */
  no_answer?: NoAnswer;
  /** Where trajectories were judged several times. */
  judge_variance?: JudgeVariance[];
}

export interface MetricDelta {
  metric: MetricName;
  baseline: number | null;
  value: number | null;
  /** value - baseline for [0,1] metrics; value / baseline for the others. */
  delta: number | null;
  kind: 'difference' | 'ratio';
  low: number | null;
  high: number | null;
  p: number | null;
  /** p after Holm's correction over the [0,1] metrics; null for ratios. */
  p_adjusted: number | null;
  /** Smallest drop this comparison could have found (two-sided alpha .05, power .8). */
  smallest_detectable: number | null;
  pairs: number;
  verdict: 'better' | 'same' | 'alert' | 'regressed' | 'not_significant' | 'unknown';
}

/** An evaluation against its baseline. */
export interface Comparison {
  baseline_evaluation_id: string;
  /** Cases in both evaluations with equal content hash. */
  compared_cases: number;
  stale: string[];
  deltas: MetricDelta[];
  newly_failing: string[];
  newly_passing: string[];
  newly_flaky: string[];
  changed_cases: string[];
  new_cases: string[];
  removed_cases: string[];
}

export type GateVerdict = 'passed' | 'failed' | 'inconclusive' | 'not_applicable';

export interface GateResult {
  gate: string;
  metric: string;
  /** `>= 0.85`, `= 0`, … as printed. */
  wanted: string;
  got: number | null;
  /** Scored trials the value is over, and planned applicable ones. */
  trials: number;
  trials_applicable: number;
  verdict: GateVerdict;
  reason: string;
  case_ids: string[];
}

export interface Verdict {
  exit_code: number;
  /** One line: why. */
  summary: string;
}
