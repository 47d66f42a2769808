import type { JsonObject } from '../../../src/core/json.ts';
import type { JudgeDimension } from '../../../src/core/suite.ts';

const binary = { passing: { score: 1, reason: 'right' }, failing: { score: 0, reason: 'wrong' } };
const likert = { passing: { score: 5, reason: 'all' }, failing: { score: 1, reason: 'none' } };
const quality = (part: number): JsonObject => ({
  accuracy: part,
  completeness: part,
  no_hallucination: part,
  professionalism: part,
  reason: 'so',
});
const trial = (part: 0 | 1): JsonObject => ({
  task_success: part,
  tool_selection_score: part,
  argument_correctness_score: part,
  efficiency_score: part,
  failure_reason: part === 1 ? null : 'rule 1',
});

/** A reply of full marks and one of none for each dimension, fields in the order the prompt names them. */
export const REPLIES: Record<JudgeDimension, { passing: JsonObject; failing: JsonObject }> = {
  task_completion: {
    passing: { result: 'success', reason: 'done' },
    failing: { result: 'failure', reason: 'not done' },
  },
  answer_quality: { passing: quality(1), failing: quality(0) },
  tool_selection: binary,
  prompt_assembly: binary,
  subagent_isolation: binary,
  rag_recall: likert,
  answer_completeness: likert,
  multi_turn_coherence: likert,
  trajectory: { passing: trial(1), failing: trial(0) },
  plan_quality: {
    passing: { coverage: 1, order_score: 1, summary: 'all' },
    failing: { coverage: 0, order_score: 1, summary: 'none' },
  },
  plan_consistency: { passing: { score: 1, reason: 'as planned' }, failing: { score: 0, reason: 'not at all' } },
};
