import type { EvalCase } from '../core/case.ts';
import type { CaseFacts } from '../core/evaluation.ts';
import { hasOutcomeChecks } from '../core/outcome-checks.ts';
import type { Suite } from '../core/suite.ts';

/** Metrics that are known to apply to a case before it runs; see `CaseFacts.applies`. */
function appliesTo(evalCase: EvalCase, suite: Pick<Suite, 'judge'>): string[] {
  const { expected } = evalCase;
  const judged: readonly string[] = suite.judge?.dimensions ?? [];
  const applies: string[] = [];
  const isText = (text: string | undefined): boolean => text !== undefined && text.trim() !== '';
  const reference = isText(expected.answer) || isText(expected.criteria);
  const judgeable = judged.includes('task_completion') && (reference || isText(evalCase.rubric));
  if (hasOutcomeChecks(evalCase) || judgeable) applies.push('completion_rate', 'partial_rate');
  const alternatives = expected.any_of ?? [];
  if (expected.calls !== undefined || alternatives.length > 0) {
    applies.push('tool_score', 'tool_names', 'tool_args', 'tool_order');
    if (expected.match !== undefined || alternatives.some((one) => one.match !== undefined)) applies.push('tool_match');
  }
  if (reference && judged.includes('answer_quality')) applies.push('answer_quality');
  if (evalCase.min_steps !== undefined) applies.push('step_efficiency');
  return applies;
}

/**
 * What aggregation needs of a case.
 * @param trials trials planned for the case
 */
export function caseFacts(
  evalCase: EvalCase,
  options: { suite: Pick<Suite, 'judge'>; contentHash: string; trials: number },
): CaseFacts {
  return {
    case_id: evalCase.id,
    content_hash: options.contentHash,
    category: evalCase.category ?? null,
    difficulty: evalCase.difficulty ?? null,
    dimension: evalCase.dimension ?? null,
    tags: evalCase.tags ?? [],
    trials: options.trials,
    applies: appliesTo(evalCase, options.suite),
  };
}
