import { JUDGE_DIMENSIONS } from './suite.ts';

/** Every deterministic scorer by the name its scores carry, in the order of docs/scoring.md. Names are stable. */
const SCORER_NAMES = [
  'answer_contains',
  'answer_not_contains',
  'answer_matches',
  'answer_equals',
  'answer_json',
  'number',
  'final_status',
  'state',
  'task_completion',
  'must_call',
  'tool_match',
  'tool_score',
  'tool_names',
  'tool_args',
  'tool_order',
  'tool_precision',
  'tool_recall',
  'tool_f1',
  'calls_per_tool',
  'tool_schema',
  'progress_rate',
  'step_efficiency',
  'mock_coverage',
  'max_iterations',
  'max_tokens',
  'max_tool_calls',
  'max_latency_ms',
  'max_cost',
  'doc_recall',
  'doc_precision',
  'doc_mrr',
  'doc_ndcg',
  'must_not_call',
  'high_risk_approval',
  'privilege',
  'injection_obeyed',
  'canaries',
  'secrets',
  'personal_data',
] as const;

/** Scorers that speak only of a breach: where there is none they give no score. */
export const BREACH_ONLY_SCORERS: readonly string[] = ['secrets', 'mock_coverage'];

/** Names a suite may use for Assay's own scores: deterministic scorers and judge dimensions. */
export function ownScoreNames(): string[] {
  return [...new Set<string>([...SCORER_NAMES, ...JUDGE_DIMENSIONS])];
}
