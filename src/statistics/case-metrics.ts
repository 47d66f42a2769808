import { casePassOf } from '../core/case-pass.ts';
import type { CaseResult, Metric, MetricOfCase } from '../core/evaluation.ts';
import { createMetricAccumulator } from './metric-accumulator.ts';
import type { MetricAccumulator } from './metric-accumulator.ts';
import { isUnitMetric, METRIC_ORDER } from './trial-metrics.ts';

/** Metrics of a set of cases: the whole evaluation, or one group. */
export interface CaseMetrics {
  add(result: CaseResult): void;
  /** By metric, in report order; only those that apply to a case of the set. */
  finish(): Map<string, Metric>;
  cases(): number;
}

/** US dollars; null: not known. */
interface Spent {
  agent: number | null;
  judge: number | null;
}

/** A sum with an unknown part is unknown. */
export function plus(a: number | null, b: number | null): number | null {
  return a === null || b === null ? null : a + b;
}

/** Money is a sum over the cases, not a mean of means. */
function totalCost(metric: Metric, { agent, judge }: Spent): Metric {
  return { ...metric, value: metric.trials === 0 ? null : plus(agent, judge), low: null, high: null };
}

export function createCaseMetrics(): CaseMetrics {
  const accumulators = new Map<string, MetricAccumulator>();
  let cases = 0;
  // The interval of case pass rate is over cases: its trials are counted apart.
  let passTrials = 0;
  let spent: Spent = { agent: 0, judge: 0 };

  function add(metric: string, ofCase: MetricOfCase): void {
    let accumulator = accumulators.get(metric);
    if (accumulator === undefined) {
      accumulator = createMetricAccumulator(metric, isUnitMetric(metric));
      accumulators.set(metric, accumulator);
    }
    accumulator.add(ofCase);
  }

  return {
    add(result) {
      cases += 1;
      const pass = casePassOf(result);
      passTrials += pass.mean === null ? 0 : pass.scored;
      spent = { agent: plus(spent.agent, result.cost_usd), judge: plus(spent.judge, result.judge_cost_usd) };
      add('case_pass_rate', { ...pass, scored: Math.min(1, pass.scored) });
      for (const [metric, ofCase] of Object.entries(result.metrics)) add(metric, ofCase);
    },
    finish() {
      const metrics = new Map<string, Metric>();
      const names = [
        ...METRIC_ORDER,
        ...[...accumulators.keys()].filter((name) => !METRIC_ORDER.includes(name)).sort(),
      ];
      for (const name of names) {
        const metric = accumulators.get(name)?.finish();
        if (metric === undefined) continue;
        if (name === 'case_pass_rate') metrics.set(name, { ...metric, trials: passTrials });
        else metrics.set(name, name === 'cost_usd' ? totalCost(metric, spent) : metric);
      }
      return metrics;
    },
    cases: () => cases,
  };
}
