import { setImmediate } from 'node:timers/promises';
import type { BaselineFacts } from '../core/baseline.ts';
import type { Comparison } from '../core/evaluation.ts';
import { hashText, hashValue } from '../core/hash.ts';
import type { AgentConfig } from '../core/suite.ts';
import { findBaseline } from '../db/baselines.ts';
import type { Db } from '../db/connect.ts';
import { type EvaluationRow, findEvaluation } from '../db/evaluations.ts';
import { streamCaseResults } from '../db/results.ts';
import { compareEvaluations } from '../statistics/compare.ts';

/**
 * Compares an evaluation with the baseline of its suite; null where none is pinned, or it is the baseline itself.
 * Reads only: neither the baseline nor the comparison is stored.
 * @param label default: the one the evaluation was started with.
 * @param onProgress called while it goes on, every 500 cases and after each metric
 */
export async function compareWithBaseline(
  db: Db,
  row: EvaluationRow,
  label: string = row.baseline_label,
  onProgress: () => void = () => undefined,
): Promise<Comparison | null> {
  const pinned = await findBaseline(db, row.suite, label);
  if (pinned === null || pinned.evaluation_id === row.id) return null;
  const baseline = await findEvaluation(db, pinned.evaluation_id);
  return baseline === null ? null : compareRows(db, baseline, row, onProgress);
}

/**
 * Compares any two evaluations whose numbers are there. Both evaluations' cases stream by in the order of their ids and
 * are paired on the way. Reads only.
 */
export async function compareRows(
  db: Db,
  baseline: EvaluationRow,
  current: EvaluationRow,
  onProgress: () => void = () => undefined,
): Promise<Comparison> {
  return compareEvaluations({
    baselineEvaluationId: baseline.id,
    regression: current.definition.regression,
    facts: { baseline: factsOf(baseline), current: factsOf(current) },
    baseline: streamCaseResults(db, baseline.id),
    current: streamCaseResults(db, current.id),
    async pause() {
      onProgress();
      // Heartbeats and other work of this process share the thread.
      await setImmediate();
    },
  });
}

function factsOf(row: EvaluationRow): BaselineFacts {
  return {
    prompt_hash: promptHash(row.definition.agent),
    judge_model: row.judge_model,
    judge_prompt_hash: row.judge_hash,
  };
}

/** Of the built-in agent's prompt, its segments included; null: there is none, or it is the agent's own business. */
function promptHash(agent: AgentConfig): string | null {
  if (agent.type !== 'openai') return null;
  const { system_prompt, prompt_segments } = agent;
  if (prompt_segments !== undefined) return hashValue({ system_prompt, prompt_segments });
  return system_prompt === undefined ? null : hashText(system_prompt);
}
