import type { EvaluationStatus } from '../core/evaluation.ts';
import { markEnded, requireEvaluation } from '../db/evaluations.ts';
import { loadEvaluationResult, saveGates } from '../db/results.ts';
import { judgeEvaluation } from '../results/judge-evaluation.ts';
import type { EndInput } from './contract.ts';
import type { ActivityDeps } from './deps.ts';

/** The last step: gates, then the status, which is terminal only now. */
export function createEndEvaluation(deps: ActivityDeps): (input: EndInput) => Promise<EvaluationStatus> {
  return async ({ evaluationId, stop, canceled }) => {
    const row = await requireEvaluation(deps.db, evaluationId);
    const aggregated = await loadEvaluationResult(deps.db, evaluationId);
    if (aggregated === null) throw new Error(`evaluation ${evaluationId} has no result yet`);
    const status: EvaluationStatus = canceled ? 'canceled' : stop === null ? 'completed' : 'stopped';
    const { gates, verdict } = await judgeEvaluation(deps.db, row, aggregated, { status, stop });
    await saveGates(deps.db, evaluationId, gates);
    await markEnded(deps.db, evaluationId, { status, stop, exitCode: verdict.exit_code, verdict: verdict.summary });
    return status;
  };
}
