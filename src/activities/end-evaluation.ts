import type { EvaluationStatus, Stop } from '../core/evaluation.ts';
import { EXIT } from '../core/errors.ts';
import { markEnded, requireEvaluation } from '../db/evaluations.ts';
import { loadEvaluationResult, saveGates } from '../db/results.ts';
import { judgeEvaluation } from '../results/judge-evaluation.ts';
import type { EndInput } from './contract.ts';
import type { ActivityDeps } from './deps.ts';

/** `superseded`: the evaluation was resumed or retried meanwhile, nothing was written. */
export type EndStatus = EvaluationStatus | 'superseded';

/** The last step: gates, then the status, which is terminal only now. */
export function createEndEvaluation(deps: ActivityDeps): (input: EndInput) => Promise<EndStatus> {
  return async ({ evaluationId, stop, canceled, revision }) => {
    const row = await requireEvaluation(deps.db, evaluationId);
    if (row.revision !== revision) return 'superseded';
    const aggregated = await loadEvaluationResult(deps.db, evaluationId);
    if (aggregated === null) throw new Error(`evaluation ${evaluationId} has no result yet`);
    const status: EvaluationStatus = canceled ? 'canceled' : stop === null ? 'completed' : 'stopped';
    const { gates, verdict } = await judgeEvaluation(deps.db, row, aggregated, { status, stop });
    await saveGates(deps.db, evaluationId, gates);
    const end = { status, stop, exitCode: verdict.exit_code, verdict: verdict.summary + rerunNote(row), revision };
    return (await markEnded(deps.db, evaluationId, end)) ? status : 'superseded';
  };
}

/** Trials that failed and were run again make the numbers better than the agent is: every report says so. */
function rerunNote(row: { failures_rerun: number }): string {
  const { failures_rerun: count } = row;
  return count === 0
    ? ''
    : ` Note: ${count} failed ${count === 1 ? 'trial was' : 'trials were'} run again (retry --failed).`;
}

/** Ends an evaluation whose numbers could not be computed: stopped, with the reason, to be reported and resumed. */
export function createFailEvaluation(
  deps: ActivityDeps,
): (input: EndInput & { message: string }) => Promise<EndStatus> {
  return async ({ evaluationId, message, revision }) => {
    const stop: Stop = { kind: 'internal_error', message: `its results could not be computed: ${message}` };
    const end = {
      status: 'stopped' as const,
      stop,
      exitCode: EXIT.incomplete,
      verdict: `Incomplete: ${stop.message}`,
      revision,
    };
    return (await markEnded(deps.db, evaluationId, end)) ? 'stopped' : 'superseded';
  };
}
