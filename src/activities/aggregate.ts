import { heartbeat } from '@temporalio/activity';
import { aggregateEvaluation } from '../results/aggregate-evaluation.ts';
import type { ActivityDeps } from './deps.ts';

/** Trials to cases, cases to the evaluation's numbers. */
export function createAggregate(deps: ActivityDeps): (input: { evaluationId: string }) => Promise<void> {
  return async ({ evaluationId }) => {
    await aggregateEvaluation(deps.db, evaluationId, () => heartbeat());
  };
}
