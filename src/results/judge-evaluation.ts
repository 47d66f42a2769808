import type { Comparison, EvaluationResult, EvaluationStatus, GateResult, Stop, Verdict } from '../core/evaluation.ts';
import { createGateWatch, verdictOf } from '../core/gate.ts';
import type { Db } from '../db/connect.ts';
import type { EvaluationRow } from '../db/evaluations.ts';
import { streamCaseResults } from '../db/results.ts';

/** Gates and verdict of an aggregated evaluation. Stores nothing. */
export async function judgeEvaluation(
  db: Db,
  row: EvaluationRow,
  aggregated: { result: EvaluationResult; comparison: Comparison | null },
  state: { status: EvaluationStatus; stop: Stop | null },
): Promise<{ gates: GateResult[]; verdict: Verdict }> {
  const watch = createGateWatch(row.definition);
  for await (const one of streamCaseResults(db, row.id)) watch.add(one);
  const gates = watch.finish(aggregated.result, aggregated.comparison);
  return { gates, verdict: verdictOf(gates, state) };
}
