import type { CaseResult, Comparison, MetricDelta } from '../core/evaluation.ts';
import { FURTHER_DIMENSIONS, higherIsBetter, METRICS } from '../core/evaluation.ts';
import { staleReasons } from '../core/baseline.ts';
import { casePassOf } from '../core/case-pass.ts';
import type { BaselineFacts } from '../core/baseline.ts';
import { exceeds, TOLERANCE } from '../core/score.ts';
import type { RegressionConfig } from '../core/suite.ts';
import { compareCaseIds } from './case-order.ts';
import { createPairedMetric } from './paired-metric.ts';
import type { PairedDelta, PairedMetric } from './paired-metric.ts';
import { holm } from './paired-tests.ts';
import { isUnitMetric } from './trial-metrics.ts';

/** Means in [0,1] where a drop is a loss. Partial rate is left out: it also falls when partial becomes success. */
const DIFFERENCES: readonly string[] = [...METRICS, ...FURTHER_DIMENSIONS].filter(
  (metric) => isUnitMetric(metric) && metric !== 'partial_rate' && metric !== 'unscored_share',
);
const RATIOS: readonly string[] = ['mean_iterations', 'mean_tool_calls', 'mean_tokens', 'mean_latency_ms', 'cost_usd'];

interface ComparisonOptions {
  baselineEvaluationId: string;
  regression: Pick<RegressionConfig, 'alert' | 'max_drop' | 'significance' | 'alpha'>;
  facts: { baseline: BaselineFacts; current: BaselineFacts };
  /** Seed of the permutation test; default 1. */
  seed?: number;
}

interface Comparer {
  /** One case of either evaluation or both, each id once; null = that evaluation does not have it. */
  add(baseline: CaseResult | null, current: CaseResult | null): void;
  /** @param pause awaited after each metric: its test may take a tenth of a second at 100,000 cases */
  finish(pause: () => Promise<void>): Promise<Comparison>;
}

type Lists = Pick<
  Comparison,
  'newly_failing' | 'newly_passing' | 'newly_flaky' | 'changed_cases' | 'new_cases' | 'removed_cases'
>;

function outcomes(lists: Lists, baseline: CaseResult, current: CaseResult): void {
  const before = baseline.outcome;
  if (before === 'unscored' || before === current.outcome) return;
  if (current.outcome === 'failed') lists.newly_failing.push(current.case_id);
  if (current.outcome === 'passed') lists.newly_passing.push(current.case_id);
  if (current.outcome === 'flaky') lists.newly_flaky.push(current.case_id);
}

function verdictOfDifference(
  delta: PairedDelta,
  pAdjusted: number | null,
  regression: ComparisonOptions['regression'],
): MetricDelta['verdict'] {
  if (delta.delta === null) return 'unknown';
  const rejects =
    regression.significance === 'off' || (pAdjusted !== null && pAdjusted <= regression.alpha + TOLERANCE);
  const drop = -delta.delta;
  if (exceeds(drop, regression.max_drop)) return rejects ? 'regressed' : 'not_significant';
  if (exceeds(drop, regression.alert)) return rejects ? 'alert' : 'not_significant';
  if (exceeds(-drop, regression.alert)) return rejects ? 'better' : 'not_significant';
  return 'same';
}

/** Ratios never fail a gate: they alert when they grow by more than the alert share and their interval leaves 1 out. */
function verdictOfRatio(delta: PairedDelta, regression: ComparisonOptions['regression']): MetricDelta['verdict'] {
  // Nothing before and nothing now has no ratio, but did not change.
  if (delta.baseline === 0 && delta.value === 0) return 'same';
  if (delta.delta === null) return 'unknown';
  const worse = higherIsBetter(delta.metric) ? 1 - delta.delta : delta.delta - 1;
  if (!exceeds(Math.abs(worse), regression.alert)) return 'same';
  const clear = delta.low !== null && delta.high !== null && (delta.low > 1 || delta.high < 1);
  if (!clear) return 'not_significant';
  return worse > 0 ? 'alert' : 'better';
}

function judged(deltas: readonly PairedDelta[], regression: ComparisonOptions['regression']): MetricDelta[] {
  const tested = deltas.filter((delta) => delta.kind === 'difference' && delta.p !== null);
  const corrected = holm(tested.map((delta) => delta.p ?? 1));
  return deltas.map((delta) => {
    const p_adjusted = corrected[tested.indexOf(delta)] ?? null;
    const verdict =
      delta.kind === 'difference'
        ? verdictOfDifference(delta, p_adjusted, regression)
        : verdictOfRatio(delta, regression);
    return { ...delta, p_adjusted, verdict };
  });
}

/** Scorers of the suite's own that both evaluations have are compared like Assay's. */
function withOwnScorers(
  metrics: Map<string, PairedMetric>,
  { baseline, current, seed }: { baseline: CaseResult; current: CaseResult; seed: number },
): void {
  for (const name of current.own_scorers ?? []) {
    if (metrics.has(name) || baseline.own_scorers?.includes(name) !== true) continue;
    metrics.set(name, createPairedMetric(name, 'difference', seed));
  }
}

/** Adds one case that both have with equal content to every metric both have a value of. */
function pair(metrics: ReadonlyMap<string, PairedMetric>, baseline: CaseResult, current: CaseResult): void {
  for (const [name, metric] of metrics) {
    const casePass = name === 'case_pass_rate';
    const before = casePass ? casePassOf(baseline) : baseline.metrics[name];
    const after = casePass ? casePassOf(current) : current.metrics[name];
    if (before === undefined || after === undefined || before.mean === null || after.mean === null) continue;
    const single = casePass || (before.scored === 1 && after.scored === 1);
    const binary = [before.mean, after.mean].every((mean) => mean === 0 || mean === 1);
    metric.add(before.mean, after.mean, single && binary);
  }
}

/** Compares while pairs of cases stream by. */
function createComparer(options: ComparisonOptions): Comparer {
  const seed = options.seed ?? 1;
  const metrics = new Map<string, PairedMetric>([
    ...DIFFERENCES.map((name): [string, PairedMetric] => [name, createPairedMetric(name, 'difference', seed)]),
    ...RATIOS.map((name): [string, PairedMetric] => [name, createPairedMetric(name, 'ratio', seed)]),
  ]);
  const lists: Lists = {
    newly_failing: [],
    newly_passing: [],
    newly_flaky: [],
    changed_cases: [],
    new_cases: [],
    removed_cases: [],
  };
  let compared = 0;
  return {
    add(baseline, current) {
      if (baseline === null && current !== null) lists.new_cases.push(current.case_id);
      if (baseline !== null && current === null) lists.removed_cases.push(baseline.case_id);
      if (baseline === null || current === null) return;
      if (baseline.content_hash !== current.content_hash) {
        lists.changed_cases.push(current.case_id);
        return;
      }
      compared += 1;
      outcomes(lists, baseline, current);
      withOwnScorers(metrics, { baseline, current, seed });
      pair(metrics, baseline, current);
    },
    async finish(pause) {
      const deltas: PairedDelta[] = [];
      for (const metric of metrics.values()) {
        const delta = metric.finish();
        if (delta.pairs > 0) deltas.push(delta);
        await pause();
      }
      return {
        baseline_evaluation_id: options.baselineEvaluationId,
        compared_cases: compared,
        stale: staleReasons(options.facts.baseline, options.facts.current),
        deltas: judged(deltas, options.regression),
        ...lists,
      };
    },
  };
}

/** Pairs after which a comparison pauses. */
const PAUSE_PAIRS = 500;

type Cases = Iterable<CaseResult> | AsyncIterable<CaseResult>;

export interface ComparisonInput extends ComparisonOptions {
  baseline: Cases;
  current: Cases;
  /** Awaited every 500 cases and after each metric: for whoever shares the thread, and for signs of life. */
  pause?: () => Promise<void>;
}

/**
 * Compares an evaluation with its baseline, each read once by ascending case id (compareCaseIds); see docs/statistics.md, "Comparison".
 * Rejects with RangeError when the order of either breaks, since cases would silently go unmatched.
 */
export async function compareEvaluations(input: ComparisonInput): Promise<Comparison> {
  const { pause = () => Promise.resolve() } = input;
  const comparer = createComparer(input);
  const baseline = ascending(input.baseline);
  const current = ascending(input.current);
  let before = await baseline.next();
  let after = await current.next();
  for (let pairs = 1; before.done !== true || after.done !== true; pairs += 1) {
    const which =
      before.done === true ? 1 : after.done === true ? -1 : compareCaseIds(before.value.case_id, after.value.case_id);
    comparer.add(
      which <= 0 && before.done !== true ? before.value : null,
      which >= 0 && after.done !== true ? after.value : null,
    );
    if (which <= 0) before = await baseline.next();
    if (which >= 0) after = await current.next();
    if (pairs % PAUSE_PAIRS === 0) await pause();
  }
  return comparer.finish(pause);
}

async function* ascending(cases: Cases): AsyncGenerator<CaseResult, void, void> {
  let last: string | null = null;
  for await (const one of cases) {
    if (last !== null && compareCaseIds(last, one.case_id) >= 0) {
      throw new RangeError(`cases must come once each, by ascending id: ${one.case_id} came after ${last}`);
    }
    last = one.case_id;
    yield one;
  }
}
