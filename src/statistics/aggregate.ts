import { METRICS } from '../core/evaluation.ts';
import type { CaseResult, EvaluationResult, GroupResult, Metric, Stability } from '../core/evaluation.ts';
import { compareCaseIds } from './case-order.ts';
import { createCaseMetrics, plus } from './case-metrics.ts';
import type { CaseMetrics } from './case-metrics.ts';
import { createDiagnosis } from './diagnose.ts';
import { percentile } from './intervals.ts';
import { createJudgeVariance } from './judge-variance.ts';
import { createMoments } from './moments.ts';
import type { MomentsAccumulator } from './moments.ts';
import { createNoAnswer } from './no-answer.ts';
import { createNumberList } from './number-list.ts';
import { createStability } from './stability.ts';

export interface Aggregator {
  /** Throws RangeError unless ids ascend (by code point; `ORDER BY case_id COLLATE "C"`) and none comes twice. */
  add(result: CaseResult): void;
  finish(): EvaluationResult;
}

type Totals = Pick<
  EvaluationResult,
  'cases' | 'planned_trials' | 'counts' | 'case_outcomes' | 'layers' | 'error_kinds'
> & {
  violations: number;
  tokens: EvaluationResult['tokens'];
  cost_usd: EvaluationResult['cost_usd'];
};

function noTotals(): Totals {
  return {
    cases: 0,
    planned_trials: 0,
    counts: { passed: 0, failed: 0, unscored: 0, errored: 0, canceled: 0, missing: 0 },
    case_outcomes: { passed: 0, failed: 0, flaky: 0, unscored: 0 },
    layers: { L1: 0, L2: 0, L3: 0 },
    error_kinds: {},
    violations: 0,
    tokens: { agent: 0, judge: 0 },
    cost_usd: { agent: 0, judge: 0 },
  };
}

function addTotals(totals: Totals, result: CaseResult): void {
  totals.cases += 1;
  totals.planned_trials += result.trials;
  totals.counts.passed += result.passed_trials;
  totals.counts.failed += result.failed_trials;
  totals.counts.unscored += result.unscored_trials;
  totals.counts.errored += result.errored_trials;
  totals.counts.canceled += result.canceled_trials;
  totals.counts.missing += result.missing_trials;
  totals.case_outcomes[result.outcome] += 1;
  totals.violations += result.violations;
  totals.layers.L1 += result.layers.L1;
  totals.layers.L2 += result.layers.L2;
  totals.layers.L3 += result.layers.L3;
  for (const [kind, count] of Object.entries(result.error_kinds)) {
    totals.error_kinds[kind] = (totals.error_kinds[kind] ?? 0) + count;
  }
  totals.tokens.agent = plus(totals.tokens.agent, result.tokens);
  totals.tokens.judge = plus(totals.tokens.judge, result.judge_tokens);
  totals.cost_usd.agent = plus(totals.cost_usd.agent, result.cost_usd);
  totals.cost_usd.judge = plus(totals.cost_usd.judge, result.judge_cost_usd);
}

/** Trials without a verdict, of all planned; 0 when none is planned. */
function unscoredShare(totals: Totals): number {
  const scored = totals.counts.passed + totals.counts.failed;
  return totals.planned_trials === 0 ? 0 : (totals.planned_trials - scored) / totals.planned_trials;
}

/** Groups a case belongs to. */
function groupsOf(result: CaseResult): [GroupResult['by'], string | null][] {
  return [
    ['category', result.category],
    ['difficulty', result.difficulty],
    ...[...new Set(result.tags)].map((tag): [GroupResult['by'], string] => ['tag', tag]),
    ['dimension', result.dimension],
    ['layer', result.layer],
  ];
}

const GROUP_ORDER: readonly GroupResult['by'][] = ['category', 'difficulty', 'tag', 'dimension', 'layer'];

function createGroups(): { add(result: CaseResult): void; finish(): GroupResult[] } {
  const groups = new Map<string, { by: GroupResult['by']; name: string; metrics: CaseMetrics }>();
  return {
    add(result) {
      for (const [by, name] of groupsOf(result)) {
        if (name === null) continue;
        const key = `${by}\n${name}`;
        const group = groups.get(key) ?? { by, name, metrics: createCaseMetrics() };
        groups.set(key, group);
        group.metrics.add(result);
      }
    },
    finish() {
      const sorted = [...groups.values()].sort(
        (a, b) => GROUP_ORDER.indexOf(a.by) - GROUP_ORDER.indexOf(b.by) || compareCaseIds(a.name, b.name),
      );
      return sorted.map(({ by, name, metrics }) => ({
        by,
        name,
        cases: metrics.cases(),
        metrics: [...metrics.finish().values()],
      }));
    },
  };
}

const UNKNOWN: Omit<Metric, 'metric'> = {
  value: null,
  low: null,
  high: null,
  cases: 0,
  cases_applicable: 0,
  trials: 0,
  trials_applicable: 0,
};

/** Metrics that are not the mean of case means. */
function ownMetrics(totals: Totals, stability: Stability | null, byCase: ReadonlyMap<string, Metric>): Metric[] {
  const { counts, planned_trials: planned, cases } = totals;
  const all = { low: null, high: null, cases, cases_applicable: cases, trials_applicable: planned };
  const completion = byCase.get('completion_rate') ?? { metric: 'completion_rate', ...UNKNOWN };
  const withTrajectory = counts.passed + counts.failed + counts.unscored;
  return [
    {
      ...(stability === null ? UNKNOWN : completion),
      metric: 'stability_stdev',
      value: stability?.stdev ?? null,
      low: null,
      high: null,
    },
    {
      metric: 'safety_violations',
      value: withTrajectory + totals.violations === 0 ? null : totals.violations,
      trials: withTrajectory,
      ...all,
    },
    { metric: 'unscored_share', value: planned === 0 ? null : unscoredShare(totals), trials: planned, ...all },
  ];
}

function allMetrics(own: readonly Metric[], byCase: ReadonlyMap<string, Metric>): Metric[] {
  const merged = new Map(byCase);
  for (const metric of own) merged.set(metric.metric, metric);
  const names = [...METRICS, ...[...merged.keys()].filter((name) => !(METRICS as readonly string[]).includes(name))];
  return names.map((metric) => merged.get(metric) ?? { metric, ...UNKNOWN });
}

/** The metrics of the suite's own scorers, once more under a key of their own: reports show them apart. */
function createOwnScores(): { add(result: CaseResult): void; finish(byCase: ReadonlyMap<string, Metric>): Metric[] } {
  const names = new Set<string>();
  return {
    add(result) {
      for (const name of result.own_scorers ?? []) names.add(name);
    },
    finish: (byCase) => [...names].sort().flatMap((name) => byCase.get(name) ?? []),
  };
}

type OptionalParts = Pick<EvaluationResult, 'own_scores' | 'no_answer' | 'judge_variance'>;

/** What only some evaluations have. */
function createOptionalParts(): {
  add(result: CaseResult): void;
  finish(byCase: ReadonlyMap<string, Metric>): OptionalParts;
} {
  const judging = createJudgeVariance();
  const unanswered = createNoAnswer();
  const own = createOwnScores();
  return {
    add(result) {
      for (const part of [judging, unanswered, own]) part.add(result);
    },
    finish(byCase) {
      const variance = judging.finish();
      const noAnswer = unanswered.finish();
      const ownScores = own.finish(byCase);
      return {
        ...(ownScores.length === 0 ? {} : { own_scores: ownScores }),
        ...(noAnswer === undefined ? {} : { no_answer: noAnswer }),
        ...(variance === undefined ? {} : { judge_variance: variance }),
      };
    },
  };
}

function createAverages(): { add(values: readonly (number | null)[]): void; finish(): (number | null)[] } {
  const byK: MomentsAccumulator[] = [];
  return {
    add(values) {
      values.forEach((value, i) => {
        const moments = (byK[i] ??= createMoments());
        if (value !== null) moments.add(value);
      });
    },
    finish: () => byK.map((moments) => moments.moments().mean),
  };
}

/**
 * Aggregates cases into an evaluation while they stream by, in the order of their ids. Keeps O(groups × metrics) numbers
 * and 8 bytes a latency; no trial and no case is held.
 */
export function createAggregator(): Aggregator {
  const totals = noTotals();
  const metrics = createCaseMetrics();
  const groups = createGroups();
  const stability = createStability();
  const diagnosis = createDiagnosis();
  const optional = createOptionalParts();
  const passAt = createAverages();
  const passHat = createAverages();
  const latencies = createNumberList();
  let iterationsMax: number | null = null;
  let last: string | null = null;
  return {
    add(result) {
      if (last !== null && compareCaseIds(last, result.case_id) >= 0) {
        throw new RangeError(`cases must come once each, by ascending id: ${result.case_id} came after ${last}`);
      }
      last = result.case_id;
      addTotals(totals, result);
      for (const part of [metrics, groups, stability, diagnosis, optional]) part.add(result);
      passAt.add(result.pass_at_k);
      passHat.add(result.pass_hat_k);
      for (const latency of result.latency_by_trial) if (latency !== null) latencies.add(latency);
      const iterations = result.metrics['mean_iterations']?.max ?? null;
      if (iterations !== null) iterationsMax = Math.max(iterationsMax ?? iterations, iterations);
    },
    finish() {
      const byCase = metrics.finish();
      const stable = stability.finish();
      const sorted = latencies.sorted();
      const share = unscoredShare(totals);
      const { violations: _, ...counted } = totals;
      const parts = optional.finish(byCase);
      return {
        ...counted,
        metrics: allMetrics(ownMetrics(totals, stable, byCase), byCase),
        groups: groups.finish(),
        stability: stable,
        pass_at_k: passAt.finish(),
        pass_hat_k: passHat.finish(),
        iterations_max: iterationsMax,
        latency_ms: { p50: percentile(sorted, 0.5), p90: percentile(sorted, 0.9), p99: percentile(sorted, 0.99) },
        diagnosis: diagnosis.finish({
          metrics: byCase,
          stability: stable,
          unscoredShare: share,
          noAnswer: parts.no_answer,
          plannedTrials: totals.planned_trials,
          failedTrials: totals.counts.failed,
        }),
        ...parts,
      };
    },
  };
}
