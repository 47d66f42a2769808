import { setImmediate as nextTurn } from 'node:timers/promises';
import type { EvaluationResult } from '../core/evaluation.ts';
import type { Db } from '../db/connect.ts';
import { requireEvaluation } from '../db/evaluations.ts';
import { saveCaseResults, saveEvaluationResult, streamCases } from '../db/results.ts';
import { createAggregator } from '../statistics/aggregate.ts';
import { caseFacts } from '../statistics/case-facts.ts';
import { reduceCase } from '../statistics/reduce.ts';

/** Pages being written at once: a write takes Postgres longer than the next page takes us. */
const SAVES = 2;

/**
 * Reduces trials to cases and cases to the evaluation's numbers, and stores both. Page by page: memory does not grow
 * with the trials, and the event loop gets its turns.
 * @param onPage called after each page, for heartbeats.
 */
export async function aggregateEvaluation(
  db: Db,
  evaluationId: string,
  onPage: () => void = () => undefined,
): Promise<EvaluationResult> {
  const suite = (await requireEvaluation(db, evaluationId)).definition;
  const aggregator = createAggregator();
  const saving: Promise<void>[] = [];
  try {
    for await (const page of streamCases(db, evaluationId)) {
      const results = page.map((one) =>
        reduceCase(
          caseFacts(one.evalCase, { suite, contentHash: one.contentHash, trials: one.trialCount }),
          one.trials,
        ),
      );
      for (const result of results) aggregator.add(result);
      if (saving.length >= SAVES) await saving.shift();
      const saved = saveCaseResults(db, evaluationId, results);
      // Thrown where it is awaited.
      saved.catch(() => undefined);
      saving.push(saved);
      onPage();
      await nextTurn();
    }
    await Promise.all(saving);
  } finally {
    // None may be written after the activity is tried again.
    await Promise.allSettled(saving);
  }
  const result = aggregator.finish();
  await saveEvaluationResult(db, evaluationId, result);
  return result;
}
