import type { CaseResult, MetricOfCase } from './evaluation.ts';

/** Pass or not, as one value a case whatever its trials; coverage still counts trials. */
export function casePassOf(result: CaseResult): MetricOfCase {
  const scored = result.passed_trials + result.failed_trials;
  const mean = result.outcome === 'unscored' ? null : Number(result.outcome === 'passed');
  return { mean, stdev: null, min: mean, max: mean, scored, applicable: result.trials };
}
