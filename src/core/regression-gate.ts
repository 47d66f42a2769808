import { covers, uncoveredReason } from './coverage.ts';
import type { Comparison, EvaluationResult, GateResult, MetricDelta } from './evaluation.ts';
import { exceeds } from './score.ts';
import type { RegressionConfig } from './suite.ts';

/** Metrics whose coverage decides whether the gate may speak; others are left out while they cover too little. */
const HEADLINE: ReadonlySet<string> = new Set(['completion_rate', 'case_pass_rate', 'tool_score', 'answer_quality']);
/** Case ids a gate lists at most. */
export const GATE_CASES = 20;

interface Compared {
  delta: MetricDelta;
  change: number;
  trials: number;
  applicable: number;
}

function comparedMetrics(result: EvaluationResult, comparison: Comparison): Compared[] {
  return comparison.deltas.flatMap((delta) => {
    if (delta.kind !== 'difference' || delta.delta === null) return [];
    const metric = result.metrics.find((one) => one.metric === delta.metric);
    return [{ delta, change: delta.delta, trials: metric?.trials ?? 0, applicable: metric?.trials_applicable ?? 0 }];
  });
}

/** The compared metric that covers least of its planned trials. */
function leastCovered(compared: readonly Compared[]): Compared | null {
  const share = ({ trials, applicable }: Compared): number => (applicable === 0 ? 1 : trials / applicable);
  return compared.reduce<Compared | null>((low, one) => (low === null || share(one) < share(low) ? one : low), null);
}

/**
 * The regression gate (docs/gates.md): n/a without a baseline; inconclusive when no case can be compared, when `strict`
 * refuses a stale baseline, or when a headline metric covers under 98 %. Its `got` is the largest drop of a compared
 * [0,1] metric.
 */
export function regressionGate(
  result: EvaluationResult,
  comparison: Comparison | null,
  regression: Pick<RegressionConfig, 'max_drop' | 'strict'>,
): GateResult {
  const wanted = `drop <= ${Number(regression.max_drop.toFixed(4))}`;
  const base = { gate: 'regression', metric: 'regression', wanted, case_ids: [] };
  const nothing = { ...base, got: null, trials: 0, trials_applicable: 0 };
  if (comparison === null) return { ...nothing, verdict: 'not_applicable', reason: 'no baseline' };
  if (regression.strict && comparison.stale.length > 0) {
    const reason = `stale baseline refused (strict): ${comparison.stale.join('; ')}. ${staleRemedy(comparison)}`;
    return { ...nothing, verdict: 'inconclusive', reason };
  }
  const compared = comparedMetrics(result, comparison).filter(
    ({ delta, trials, applicable }) => HEADLINE.has(delta.metric) || covers(trials, applicable),
  );
  const headline = compared.filter(({ delta }) => HEADLINE.has(delta.metric));
  const least = leastCovered(headline.length > 0 ? headline : compared);
  if (least === null) {
    return { ...nothing, verdict: 'inconclusive', reason: nothingCompared(comparison) };
  }
  const { trials, applicable } = least;
  const got = Math.max(0, ...compared.map(({ change }) => -change));
  const measured = { ...base, got, trials, trials_applicable: applicable };
  if (!covers(trials, applicable)) {
    return { ...measured, verdict: 'inconclusive', reason: uncoveredReason(trials, applicable) };
  }
  return { ...measured, ...verdictOn(compared, comparison, regression.max_drop) };
}

/** Why no metric could be compared, and what to do: a new rubric or expectation changes every case it stands in. */
function nothingCompared({
  baseline_evaluation_id: id,
  compared_cases: compared,
  changed_cases: changed,
}: Comparison): string {
  if (compared > 0) return `no metric has a value in both this evaluation and the baseline ${id}`;
  if (changed.length === 0) return `none of these cases is in the baseline ${id}: pin a new one (assay baseline set)`;
  const all = changed.length === 1 ? 'the case both have' : `all ${changed.length} cases both have`;
  return `${all} changed since the baseline ${id}: ${rescoreIt(id, 'the cases as they are now')}`;
}

function staleRemedy({ baseline_evaluation_id: id, stale }: Comparison): string {
  if (stale.every((reason) => reason.startsWith('judge '))) return `To compare, ${rescoreIt(id, 'the same judge')}`;
  return 'Compare without strict, or pin a new one (assay baseline set)';
}

/** The agent need not be run again for a baseline that was only scored otherwise. */
function rescoreIt(id: string, withWhat: string): string {
  return `score its trajectories with ${withWhat} (assay rescore ${id}) and pin the result (assay baseline set), or pin a new run`;
}

function verdictOn(
  compared: readonly Compared[],
  comparison: Comparison,
  maxDrop: number,
): Pick<GateResult, 'verdict' | 'reason' | 'case_ids'> {
  const names = (some: readonly Compared[]): string => some.map(({ delta }) => delta.metric).join(', ');
  const regressed = compared.filter(({ delta }) => delta.verdict === 'regressed');
  if (regressed.length > 0) {
    const case_ids = [...comparison.newly_failing, ...comparison.newly_flaky].slice(0, GATE_CASES);
    return { verdict: 'failed', reason: `${names(regressed)} dropped`, case_ids };
  }
  const unproven = compared.filter(({ change }) => exceeds(-change, maxDrop));
  return { verdict: 'passed', reason: unproven.length > 0 ? `not significant: ${names(unproven)}` : '', case_ids: [] };
}
