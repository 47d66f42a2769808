import { EXIT, UserError } from '../../core/errors.ts';
import type { Db } from '../../db/connect.ts';
import { type EvaluationRow, findEvaluation } from '../../db/evaluations.ts';
import type { NextStep, ReportModel } from '../../report/report-model.ts';
import { loadReport } from './load-report.ts';
import { resultOf, settleEvaluation, stopOf } from './settle.ts';

/**
 * The report of a stored evaluation. One whose workflow was lost before it came to the numbers is brought to them now.
 * @throws UserError (exit 3) while it runs.
 */
export async function storedReport(db: Db, row: EvaluationRow, nextSteps: NextStep[] = []): Promise<ReportModel> {
  if (row.status === 'running' || row.status === 'paused') {
    throw new UserError(`Evaluation ${row.id} is not finished: it is ${row.status}.`, {
      exitCode: EXIT.incomplete,
      hint: `\`assay status ${row.id}\` shows its progress; \`assay resume ${row.id}\` follows it or goes on with it.`,
    });
  }
  return loadReport(db, await withNumbers(db, row), nextSteps);
}

async function withNumbers(db: Db, row: EvaluationRow): Promise<EvaluationRow> {
  if (row.status !== 'stopped' && row.status !== 'canceled') return row;
  if (row.stop_kind !== 'terminated') {
    await resultOf(db, row);
    return (await findEvaluation(db, row.id)) ?? row;
  }
  return settleEvaluation(db, row, { status: row.status, stop: stopOf(row) });
}
