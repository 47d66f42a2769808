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

export function createCaseMetrics(): CaseMetrics {
  const accumulators = new Map<string, MetricAccumulator>();
  let cases = 0;
  // The interval of case pass rate is over cases: its trials are counted apart.
  let passTrials = 0;

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
        metrics.set(name, name === 'case_pass_rate' ? { ...metric, trials: passTrials } : metric);
      }
      return metrics;
    },
    cases: () => cases,
  };
}
