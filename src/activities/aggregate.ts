import { setImmediate as nextTurn } from 'node:timers/promises';
import { heartbeat } from '@temporalio/activity';
import type { EvaluationResult } from '../core/evaluation.ts';
import type { Db } from '../db/connect.ts';
import { saveCaseResults, saveEvaluationResult, streamCases } from '../db/results.ts';
import { createAggregator } from '../statistics/aggregate.ts';
import { reduceCase } from '../statistics/reduce.ts';
import type { ActivityDeps } from './deps.ts';

/** Reduces trials to cases and cases to the evaluation's numbers, page by page: memory does not grow with the trials. */
export async function aggregateEvaluation(db: Db, evaluationId: string, onPage: () => void): Promise<EvaluationResult> {
  const aggregator = createAggregator();
  for await (const page of streamCases(db, evaluationId)) {
    const results = page.map((one) => reduceCase(one.facts, one.trials));
    for (const result of results) aggregator.add(result);
    await saveCaseResults(db, evaluationId, results);
    onPage();
    await nextTurn();
  }
  const result = aggregator.finish();
  await saveEvaluationResult(db, evaluationId, result);
  return result;
}

export function createAggregate(deps: ActivityDeps): (input: { evaluationId: string }) => Promise<void> {
  return async ({ evaluationId }) => {
    await aggregateEvaluation(deps.db, evaluationId, () => heartbeat());
  };
}
