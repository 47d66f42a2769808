import type { Db } from '../../db/connect.ts';
import type { EvaluationRow } from '../../db/evaluations.ts';
import { loadCaseResults, loadEvaluationResult, loadGates } from '../../db/results.ts';
import { loadUnmatchedCalls } from '../../db/unmatched-calls.ts';
import type { Stop } from '../../core/evaluation.ts';
import { UserError } from '../../core/errors.ts';
import { calibrateEvaluation } from '../../results/calibrate-evaluation.ts';
import { diagnoseRubric } from '../../statistics/diagnose.ts';
import { buildReport, type NextStep, type ReportModel } from '../../report/report-model.ts';

/** The report of an evaluation, from stored rows alone: what is printed is what is in Postgres. */
export async function loadReport(db: Db, row: EvaluationRow, nextSteps: NextStep[] = []): Promise<ReportModel> {
  const stored = await loadEvaluationResult(db, row.id);
  if (stored === null || row.exit_code === null) {
    throw new UserError(`evaluation ${row.id} has no result yet: it is ${row.status}`, {
      hint: `\`assay status ${row.id}\` shows its progress`,
    });
  }
  const calibration = await calibrateEvaluation(db, row.id);
  const { result } = stored;
  const rubric = calibration === null ? [] : diagnoseRubric(calibration);
  return buildReport({
    evaluation: {
      evaluation_id: row.id,
      suite: row.suite,
      kind: row.kind,
      agent: row.agent_model ?? agentName(row),
      agent_version: row.agent_version,
      judge: row.judge_model,
      status: row.status,
      stop: row.stop_kind === null ? null : { kind: row.stop_kind as Stop['kind'], message: row.stop_message ?? '' },
      started_at: row.started_at?.toISOString() ?? null,
      ended_at: row.finished_at?.toISOString() ?? null,
      labels: row.labels,
      offline: row.offline,
      ...(row.source_evaluation_id === null ? {} : { source: row.source_evaluation_id }),
    },
    result: { ...result, diagnosis: [...result.diagnosis, ...rubric] },
    calibration,
    cases: await loadCaseResults(db, row.id, { onlyBad: true, limit: 5_000 }),
    comparison: stored.comparison,
    baseline_label: stored.comparison === null ? null : row.baseline_label,
    gates: await loadGates(db, row.id),
    verdict: { exit_code: row.exit_code, summary: row.verdict ?? '' },
    unmatched_calls: await loadUnmatchedCalls(db, row.id),
    next_steps: nextSteps,
  });
}

function agentName(row: EvaluationRow): string {
  const { agent } = row.definition;
  switch (agent.type) {
    case 'openai':
      return agent.model;
    case 'module':
      return agent.path;
    case 'http':
      return agent.url.replace(/[?#].*$/, '');
    case 'command':
      return agent.command.join(' ');
    case 'a2a':
      return agent.card_url.replace(/[?#].*$/, '');
    case 'replay':
      return `replay of ${agent.trajectories}`;
  }
}
