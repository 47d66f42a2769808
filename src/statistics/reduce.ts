import type { CaseFacts, CaseResult, MetricOfCase, TrialRecord } from '../core/evaluation.ts';
import type { Layer } from '../core/trial.ts';
import { errorKindOf, failureOf } from './failures.ts';
import { judgeRoundsOf } from './judge-variance.ts';
import { CALL_SCORES, failingLayer, LAYERS } from './layers.ts';
import { momentsOf } from './moments.ts';
import { brokeOff, endingsOf } from './no-answer.ts';
import { passAtK, passHatK } from './pass-at-k.ts';
import { hasTrajectory, ofScore, scoreValue, TRIAL_METRICS } from './trial-metrics.ts';
import type { TrialMetric } from './trial-metrics.ts';

/** Trials in order of their index. Throws RangeError when one is given twice or was not planned: a fault of the caller. */
function inOrder(facts: CaseFacts, trials: readonly TrialRecord[]): TrialRecord[] {
  const sorted = [...trials].sort((a, b) => a.trial_index - b.trial_index);
  sorted.forEach((trial, i) => {
    const place = `case ${facts.case_id}, trial ${trial.trial_index}`;
    if (trial.case_id !== facts.case_id) throw new RangeError(`${place}: belongs to case ${trial.case_id}`);
    if (sorted[i - 1]?.trial_index === trial.trial_index) throw new RangeError(`${place}: given twice`);
    if (trial.trial_index < 1 || trial.trial_index > facts.trials) {
      throw new RangeError(`${place}: not among the ${facts.trials} planned`);
    }
  });
  return sorted;
}

/**
 * Whether a metric applies to the case. What the plan knows (`facts.applies`) and any value decide; without a plan, the
 * presence of the score does. Completion of a case that got no score at all counts as applicable: nobody knows better.
 */
function applies(metric: TrialMetric, facts: CaseFacts, ended: readonly TrialRecord[]): boolean {
  const { scorer } = metric;
  if (scorer === null) return true;
  if (ended.some((trial) => metric.read(trial) !== null)) return true;
  const planned = facts.applies;
  if (planned?.includes(metric.metric) === true) return true;
  const decided = scorer === 'task_completion' || scorer.startsWith('tool_') || scorer === 'answer_quality';
  if (planned !== undefined && decided) return false;
  if (ended.some((trial) => trial.scores.some((score) => score.scorer === scorer))) return true;
  return scorer === 'task_completion' && ended.every((trial) => trial.scores.length === 0);
}

function metricOfCase(metric: TrialMetric, ended: readonly TrialRecord[], planned: number): MetricOfCase {
  const values = ended.map((trial) => metric.read(trial)).filter((value) => value !== null);
  const { n, mean, stdev, min, max } = momentsOf(values);
  return { mean, stdev, min, max, scored: n, applicable: planned };
}

function metricsOf(facts: CaseFacts, ended: readonly TrialRecord[]): Record<string, MetricOfCase> {
  const metrics: Record<string, MetricOfCase> = {};
  for (const metric of TRIAL_METRICS) {
    if (applies(metric, facts, ended)) metrics[metric.metric] = metricOfCase(metric, ended, facts.trials);
  }
  // A scorer of the suite's own is asked about every trial: where it gave no value, that is missing from its coverage.
  for (const name of facts.own_scorers ?? []) metrics[name] = metricOfCase(ofScore(name), ended, facts.trials);
  return metrics;
}

function layersOf(failed: readonly TrialRecord[]): Pick<CaseResult, 'layer' | 'layers'> {
  const layers: Record<Layer, number> = { L1: 0, L2: 0, L3: 0 };
  for (const trial of failed) {
    const layer = failingLayer({
      plan_quality: scoreValue(trial, 'plan_quality'),
      plan_consistency: scoreValue(trial, 'plan_consistency'),
      tool_score: scoreValue(trial, 'tool_score'),
      calls_wrong: trial.scores.some(
        (score) => score.deciding && score.passed === false && CALL_SCORES.has(score.scorer),
      ),
      task_completion: scoreValue(trial, 'task_completion'),
      step_efficiency: scoreValue(trial, 'step_efficiency'),
    });
    if (layer !== null) layers[layer] += 1;
  }
  return { layers, layer: LAYERS.find((layer) => layers[layer] > 0) ?? null };
}

/** What the diagnosis of layers reads, over the trials that did not break off. */
function answeredOf(ended: readonly TrialRecord[]): NonNullable<CaseResult['answered']> {
  const mean = (scorer: string): number | null =>
    momentsOf(
      ended
        .filter((trial) => !brokeOff(trial))
        .map((trial) => scoreValue(trial, scorer))
        .filter((value) => value !== null),
    ).mean;
  return { plan_quality: mean('plan_quality'), tool_score: mean('tool_score') };
}

/**
 * Sum over trials. A trial with a trajectory whose part is unknown makes the sum unknown; errored, canceled and missing
 * trials add what is known of them, since most spent nothing.
 */
function total(trials: readonly TrialRecord[], read: (trial: TrialRecord) => number | null): number | null {
  let sum = 0;
  for (const trial of trials) {
    const value = read(trial);
    if (value === null && hasTrajectory(trial)) return null;
    sum += value ?? 0;
  }
  return sum;
}

function outcomeOf(passed: number, failed: number): CaseResult['outcome'] {
  if (passed === 0 && failed === 0) return 'unscored';
  if (failed === 0) return 'passed';
  return passed === 0 ? 'failed' : 'flaky';
}

function countKinds(trials: readonly TrialRecord[]): Record<string, number> {
  const kinds = new Map<string, number>();
  for (const trial of trials) {
    const kind = errorKindOf(trial);
    if (kind !== null) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  }
  return Object.fromEntries([...kinds].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** A value for each planned trial index, null where `read` has none or the trial did not end. */
function byTrial(
  facts: CaseFacts,
  ended: readonly TrialRecord[],
  read: (trial: TrialRecord) => number | null,
): (number | null)[] {
  const values = Array.from<number | null>({ length: facts.trials }).fill(null);
  for (const trial of ended) values[trial.trial_index - 1] = read(trial);
  return values;
}

/**
 * Reduces the trials of one case. The order of `trials` does not matter, to the bit. Trials that are not given, or have
 * no status, are missing; trials that are errored, canceled or missing have no values and lower coverage.
 */
export function reduceCase(facts: CaseFacts, trials: readonly TrialRecord[]): CaseResult {
  const sorted = inOrder(facts, trials);
  const ended = sorted.filter(hasTrajectory);
  const count = (status: TrialRecord['status']): number => sorted.filter((trial) => trial.status === status).length;
  const passed = count('passed');
  const failed = count('failed');
  const completion = TRIAL_METRICS.find((metric) => metric.metric === 'completion_rate');
  const ks = Array.from({ length: facts.trials }, (_, i) => i + 1);
  const judgeRounds = judgeRoundsOf(ended);
  const endings = endingsOf(sorted);
  return {
    ...facts,
    outcome: outcomeOf(passed, failed),
    passed_trials: passed,
    failed_trials: failed,
    unscored_trials: count('unscored'),
    errored_trials: count('errored'),
    canceled_trials: count('canceled'),
    missing_trials: facts.trials - sorted.length + count(null),
    violations: sorted.filter((trial) => trial.scores.some((score) => score.violation)).length,
    metrics: metricsOf(facts, ended),
    pass_at_k: ks.map((k) => passAtK(passed + failed, passed, k)),
    pass_hat_k: ks.map((k) => passHatK(passed + failed, passed, k)),
    completion_by_trial: byTrial(facts, ended, (trial) => completion?.read(trial) ?? null),
    latency_by_trial: byTrial(facts, ended, (trial) => trial.latency_ms),
    ...layersOf(sorted.filter((trial) => trial.status === 'failed' && !brokeOff(trial))),
    failures: sorted.map(failureOf).filter((failure) => failure !== null),
    ...(endings === undefined ? {} : { endings, answered: answeredOf(ended) }),
    error_kinds: countKinds(sorted),
    ...(judgeRounds === undefined ? {} : { judge_rounds: judgeRounds }),
    tokens: total(sorted, (trial) => trial.tokens),
    judge_tokens: total(sorted, (trial) => trial.judge_tokens),
    cost_usd: total(sorted, (trial) => trial.cost_usd),
    judge_cost_usd: total(sorted, (trial) => trial.judge_cost_usd),
  };
}
