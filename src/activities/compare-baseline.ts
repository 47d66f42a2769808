import type { BaselineFacts } from '../core/baseline.ts';
import type { Comparison } from '../core/evaluation.ts';
import { hashText } from '../core/hash.ts';
import { findBaseline } from '../db/baselines.ts';
import type { Db } from '../db/connect.ts';
import { type EvaluationRow, findEvaluation } from '../db/evaluations.ts';
import { loadCaseResults, saveComparison } from '../db/results.ts';
import { compareEvaluations } from '../statistics/compare.ts';
import type { ActivityDeps } from './deps.ts';

/**
 * Compares an evaluation with the baseline of its suite and label; null where none is pinned, or it is the baseline
 * itself. The baseline is read, never written.
 */
export async function compareWithBaseline(db: Db, evaluationId: string): Promise<Comparison | null> {
  const current = await findEvaluation(db, evaluationId);
  if (current === null) throw new Error(`there is no evaluation ${evaluationId}`);
  const pinned = await findBaseline(db, current.suite, current.baseline_label);
  const comparison =
    pinned === null || pinned.evaluation_id === evaluationId ? null : await compare(db, current, pinned.evaluation_id);
  await saveComparison(db, evaluationId, comparison);
  return comparison;
}

async function compare(db: Db, current: EvaluationRow, baselineId: string): Promise<Comparison | null> {
  const baseline = await findEvaluation(db, baselineId);
  if (baseline === null) return null;
  return compareEvaluations({
    baselineEvaluationId: baselineId,
    baseline: await loadCaseResults(db, baselineId),
    current: await loadCaseResults(db, current.id),
    regression: current.definition.regression,
    facts: { baseline: factsOf(baseline), current: factsOf(current) },
  });
}

function factsOf(row: EvaluationRow): BaselineFacts {
  const agent = row.definition.agent;
  return {
    prompt_hash: agent.type === 'openai' && agent.system_prompt !== undefined ? hashText(agent.system_prompt) : null,
    judge_model: row.judge_model,
    judge_prompt_hash: row.judge_hash,
  };
}

export function createCompareBaseline(deps: ActivityDeps): (input: { evaluationId: string }) => Promise<void> {
  return async ({ evaluationId }) => {
    await compareWithBaseline(deps.db, evaluationId);
  };
}
