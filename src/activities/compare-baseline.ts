import { Context } from '@temporalio/activity';
import { requireEvaluation } from '../db/evaluations.ts';
import { saveComparison } from '../db/results.ts';
import { compareWithBaseline } from '../results/compare-with-baseline.ts';
import type { ActivityDeps } from './deps.ts';

/** Compares with the pinned baseline and stores the comparison; the baseline is read, never written. */
export function createCompareBaseline(deps: ActivityDeps): (input: { evaluationId: string }) => Promise<void> {
  return async ({ evaluationId }) => {
    const row = await requireEvaluation(deps.db, evaluationId);
    const activity = Context.current();
    const comparison = await compareWithBaseline(deps.db, row, row.baseline_label, () => activity.heartbeat());
    await saveComparison(deps.db, evaluationId, comparison);
  };
}
