import type { BaselineFacts } from '../core/baseline.ts';
import type { Comparison } from '../core/evaluation.ts';
import { hashText } from '../core/hash.ts';
import { findBaseline } from '../db/baselines.ts';
import type { Db } from '../db/connect.ts';
import { type EvaluationRow, findEvaluation } from '../db/evaluations.ts';
import { streamCaseResults } from '../db/results.ts';
import { compareCaseIds } from '../statistics/case-order.ts';
import { createComparer } from '../statistics/compare.ts';

/**
 * Compares an evaluation with the baseline of its suite; null where none is pinned, or it is the baseline itself.
 * Reads only: neither the baseline nor the comparison is stored.
 * @param label default: the one the evaluation was started with.
 */
export async function compareWithBaseline(
  db: Db,
  row: EvaluationRow,
  label: string = row.baseline_label,
): Promise<Comparison | null> {
  const pinned = await findBaseline(db, row.suite, label);
  if (pinned === null || pinned.evaluation_id === row.id) return null;
  const baseline = await findEvaluation(db, pinned.evaluation_id);
  return baseline === null ? null : compareEvaluations(db, baseline, row);
}

/** Both evaluations' cases stream by in the order of their ids and are paired on the way. */
async function compareEvaluations(db: Db, baseline: EvaluationRow, current: EvaluationRow): Promise<Comparison> {
  const comparer = createComparer({
    baselineEvaluationId: baseline.id,
    regression: current.definition.regression,
    facts: { baseline: factsOf(baseline), current: factsOf(current) },
  });
  const before = streamCaseResults(db, baseline.id);
  const after = streamCaseResults(db, current.id);
  let left = await before.next();
  let right = await after.next();
  while (left.done !== true || right.done !== true) {
    const order =
      left.done === true ? 1 : right.done === true ? -1 : compareCaseIds(left.value.case_id, right.value.case_id);
    comparer.add(
      order <= 0 && left.done !== true ? left.value : null,
      order >= 0 && right.done !== true ? right.value : null,
    );
    if (order <= 0) left = await before.next();
    if (order >= 0) right = await after.next();
  }
  return comparer.finish();
}

function factsOf(row: EvaluationRow): BaselineFacts {
  const { agent } = row.definition;
  return {
    prompt_hash: agent.type === 'openai' && agent.system_prompt !== undefined ? hashText(agent.system_prompt) : null,
    judge_model: row.judge_model,
    judge_prompt_hash: row.judge_hash,
  };
}
