import { setImmediate as nextTurn } from 'node:timers/promises';
import type { BaselineFacts } from '../core/baseline.ts';
import type { Comparison, EvaluationResult, GateResult, Stop, Verdict } from '../core/evaluation.ts';
import { evaluateGates, verdictOf } from '../core/gate.ts';
import { hashText } from '../core/hash.ts';
import { findBaseline } from '../db/baselines.ts';
import type { Db } from '../db/connect.ts';
import { type EvaluationRow, findEvaluation, markEnded } from '../db/evaluations.ts';
import {
  loadCaseResults,
  loadEvaluationResult,
  saveCaseResults,
  saveComparison,
  saveEvaluationResult,
  saveGates,
  streamCases,
} from '../db/results.ts';
import { createAggregator } from '../statistics/aggregate.ts';
import { compareEvaluations } from '../statistics/compare.ts';
import { reduceCase } from '../statistics/reduce.ts';

/**
 * What the workflow does at its end, done by a command: for evaluations whose workflow is gone, and for gates asked
 * again. Everything is read from stored rows.
 */

/** The numbers of an evaluation; aggregated now when the workflow did not come to it. */
export async function resultOf(db: Db, row: EvaluationRow): Promise<EvaluationResult> {
  const stored = await loadEvaluationResult(db, row.id);
  if (stored !== null && !(await outdated(db, row, stored.result))) return stored.result;
  const aggregator = createAggregator();
  for await (const page of streamCases(db, row.id)) {
    const results = page.map((one) => reduceCase(one.facts, one.trials));
    for (const result of results) aggregator.add(result);
    await saveCaseResults(db, row.id, results);
    await nextTurn();
  }
  const result = aggregator.finish();
  await saveEvaluationResult(db, row.id, result);
  return result;
}

/** True when trials have ended since the numbers were computed: the workflow was lost after a resume. */
async function outdated(db: Db, row: EvaluationRow, result: EvaluationResult): Promise<boolean> {
  if (row.status === 'completed') return false;
  const { countEnded } = await import('../db/metric-values.ts');
  const ended = (await countEnded(db, [row.id])).get(row.id) ?? 0;
  return ended !== result.planned_trials - result.counts.missing;
}

/** Compares with the pinned baseline, stores nothing; null where none is pinned, or it is the evaluation itself. */
export async function compareNow(db: Db, row: EvaluationRow, label = row.baseline_label): Promise<Comparison | null> {
  const pinned = await findBaseline(db, row.suite, label);
  if (pinned === null || pinned.evaluation_id === row.id) return null;
  const baseline = await findEvaluation(db, pinned.evaluation_id);
  if (baseline === null) return null;
  return compareEvaluations({
    baselineEvaluationId: baseline.id,
    baseline: await loadCaseResults(db, baseline.id),
    current: await loadCaseResults(db, row.id),
    regression: row.definition.regression,
    facts: { baseline: factsOf(baseline), current: factsOf(row) },
  });
}

function factsOf(row: EvaluationRow): BaselineFacts {
  const { agent } = row.definition;
  return {
    prompt_hash: agent.type === 'openai' && agent.system_prompt !== undefined ? hashText(agent.system_prompt) : null,
    judge_model: row.judge_model,
    judge_prompt_hash: row.judge_hash,
  };
}

export interface Judgement {
  result: EvaluationResult;
  comparison: Comparison | null;
  gates: GateResult[];
  verdict: Verdict;
}

/** Gates and verdict from stored rows and the baseline as it is now. Stores nothing of them. */
export async function judgeNow(db: Db, row: EvaluationRow, label = row.baseline_label): Promise<Judgement> {
  const result = await resultOf(db, row);
  const comparison = await compareNow(db, row, label);
  const gates = evaluateGates(result, await loadCaseResults(db, row.id), comparison, row.definition);
  return { result, comparison, gates, verdict: verdictOf(gates, { status: row.status, stop: stopOf(row) }) };
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
  const state = {
    ...row,
    status: end.status,
    stop_kind: end.stop?.kind ?? null,
    stop_message: end.stop?.message ?? null,
  };
  const judgement = await judgeNow(db, state);
  await saveJudgement(db, row, judgement);
  const { exit_code, summary } = judgement.verdict;
  await markEnded(db, row.id, { ...end, exitCode: exit_code, verdict: summary });
  return (await findEvaluation(db, row.id)) ?? state;
}

/** Why an evaluation stopped, as stored. */
export function stopOf(row: EvaluationRow): Stop | null {
  return row.stop_kind === null ? null : { kind: row.stop_kind as Stop['kind'], message: row.stop_message ?? '' };
}
