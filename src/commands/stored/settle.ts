import type { Comparison, EvaluationResult, GateResult, Stop, Verdict } from '../../core/evaluation.ts';
import type { Db } from '../../db/connect.ts';
import { type EvaluationRow, findEvaluation, markEnded } from '../../db/evaluations.ts';
import { countEnded } from '../../db/metric-values.ts';
import { loadEvaluationResult, saveComparison, saveGates } from '../../db/results.ts';
import { aggregateEvaluation } from '../../results/aggregate-evaluation.ts';
import { compareWithBaseline } from '../../results/compare-with-baseline.ts';
import { judgeEvaluation } from '../../results/judge-evaluation.ts';

/**
 * What the workflow does at its end, done by a command: for evaluations whose workflow is gone, and for gates asked
 * again. Everything is read from stored rows.
 */

/** The numbers of an evaluation; aggregated now when the workflow did not come to it. */
export async function resultOf(db: Db, row: EvaluationRow): Promise<EvaluationResult> {
  const stored = await loadEvaluationResult(db, row.id);
  if (stored !== null && !(await outdated(db, row, stored.result))) return stored.result;
  return aggregateEvaluation(db, row.id);
}

/** True when trials have ended since the numbers were computed: the workflow was lost after a resume. */
async function outdated(db: Db, row: EvaluationRow, result: EvaluationResult): Promise<boolean> {
  if (row.status === 'completed') return false;
  const ended = (await countEnded(db, [row.id])).get(row.id) ?? 0;
  return ended !== result.planned_trials - result.counts.missing;
}

export interface Judgement {
  comparison: Comparison | null;
  gates: GateResult[];
  verdict: Verdict;
}

/**
 * Gates and verdict from stored rows and the baseline as it is now. Stores nothing of them.
 * @param label of the baseline; default: the one the evaluation was started with.
 */
export async function judgeNow(db: Db, row: EvaluationRow, label?: string): Promise<Judgement> {
  const result = await resultOf(db, row);
  const comparison = await compareWithBaseline(db, row, label);
  const state = { status: row.status, stop: stopOf(row) };
  return { comparison, ...(await judgeEvaluation(db, row, { result, comparison }, state)) };
}

/** Stores a judgement as the evaluation's own: reports and views then say the same. */
export async function saveJudgement(db: Db, row: EvaluationRow, judgement: Judgement): Promise<void> {
  await saveComparison(db, row.id, judgement.comparison);
  await saveGates(db, row.id, judgement.gates);
}

/**
 * Ends an evaluation that has no workflow (any more): numbers, gates, then the status, in the order the workflow keeps.
 * Returns the row afterwards.
 */
export async function settleEvaluation(
  db: Db,
  row: EvaluationRow,
  end: { status: 'stopped' | 'canceled'; stop: Stop | null },
): Promise<EvaluationRow> {
  const ended = {
    ...row,
    status: end.status,
    stop_kind: end.stop?.kind ?? null,
    stop_message: end.stop?.message ?? null,
  };
  const judgement = await judgeNow(db, ended);
  await saveJudgement(db, row, judgement);
  const { exit_code, summary } = judgement.verdict;
  await markEnded(db, row.id, { ...end, exitCode: exit_code, verdict: summary, revision: row.revision });
  return (await findEvaluation(db, row.id)) ?? ended;
}

/** Why an evaluation stopped, as stored. */
export function stopOf(row: EvaluationRow): Stop | null {
  return row.stop_kind === null ? null : { kind: row.stop_kind as Stop['kind'], message: row.stop_message ?? '' };
}
