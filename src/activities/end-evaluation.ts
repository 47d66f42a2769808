import type { EvaluationStatus, GateResult, Verdict } from '../core/evaluation.ts';
import { evaluateGates, verdictOf } from '../core/gate.ts';
import type { Stop } from '../core/evaluation.ts';
import type { Db } from '../db/connect.ts';
import { type EvaluationRow, findEvaluation, markEnded } from '../db/evaluations.ts';
import { loadCaseResults, loadEvaluationResult, saveGates } from '../db/results.ts';
import type { EndInput } from './contract.ts';
import type { ActivityDeps } from './deps.ts';

/** Evaluates the gates of an aggregated evaluation and stores them. */
export async function judgeGates(
  db: Db,
  row: EvaluationRow,
  state: { status: EvaluationStatus; stop: Stop | null },
): Promise<{ gates: GateResult[]; verdict: Verdict }> {
  const stored = await loadEvaluationResult(db, row.id);
  if (stored === null) throw new Error(`evaluation ${row.id} has no result yet`);
  const cases = await loadCaseResults(db, row.id);
  const gates = evaluateGates(stored.result, cases, stored.comparison, row.definition);
  await saveGates(db, row.id, gates);
  return { gates, verdict: verdictOf(gates, state) };
}

/** The last step: gates, then the status, which is terminal only now. */
export function createEndEvaluation(deps: ActivityDeps): (input: EndInput) => Promise<void> {
  return async ({ evaluationId, stop, canceled }) => {
    const row = await findEvaluation(deps.db, evaluationId);
    if (row === null) throw new Error(`there is no evaluation ${evaluationId}`);
    const status: EvaluationStatus = canceled ? 'canceled' : stop === null ? 'completed' : 'stopped';
    const { verdict } = await judgeGates(deps.db, row, { status, stop });
    await markEnded(deps.db, evaluationId, { status, stop, exitCode: verdict.exit_code, verdict: verdict.summary });
  };
}
