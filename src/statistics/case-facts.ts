import type { EvalCase, Expected } from '../core/case.ts';
import type { CaseFacts } from '../core/evaluation.ts';
import { judgedDimensions } from '../core/judged-dimensions.ts';
import { hasOutcomeChecks } from '../core/outcome-checks.ts';
import { relevantIds } from '../core/relevant-documents.ts';
import { RETRIEVAL_MEASURES } from '../core/retrieval-config.ts';
import type { Suite } from '../core/suite.ts';

/** Metrics that are known to apply to a case before it runs; see `CaseFacts.applies`. */
function appliesTo(evalCase: EvalCase, suite: Pick<Suite, 'judge'>): string[] {
  const { expected } = evalCase;
  const judged = judgedDimensions(evalCase, suite.judge);
  const applies: string[] = [];
  if (hasOutcomeChecks(evalCase) || judged.includes('task_completion')) applies.push('completion_rate', 'partial_rate');
  const alternatives = expected.any_of ?? [];
  if (expected.calls !== undefined || alternatives.length > 0) {
    applies.push('tool_score', 'tool_names', 'tool_args', 'tool_order');
    if (expected.match !== undefined || alternatives.some((one) => one.match !== undefined)) applies.push('tool_match');
  }
  // The other judge dimensions are metrics of the same name.
  applies.push(...judged.filter((dimension) => dimension !== 'task_completion'));
  applies.push(...checkedDimensions(evalCase).filter((dimension) => !applies.includes(dimension)));
  if (hasRequiredSteps(expected)) applies.push('progress_rate');
  if (evalCase.min_steps !== undefined) applies.push('step_efficiency');
  if (relevantIds(expected).length > 0) applies.push(...RETRIEVAL_MEASURES.map((measure) => `doc_${measure}`));
  return applies;
}

/** Dimensions that a deterministic scorer speaks on whatever the agent does, with a judge or without. */
function checkedDimensions({ dimension, expected }: EvalCase): string[] {
  const segments = expected.prompt_segments !== undefined || dimension === 'prompt_assembly';
  return [
    ...(segments ? ['prompt_assembly'] : []),
    ...(dimension === 'subagent_isolation' ? ['subagent_isolation'] : []),
  ];
}

/** True when the case has a progress rate whichever of its right ways the agent takes. */
function hasRequiredSteps({ steps = [], calls, any_of: ways = [], must_call: mustCall = [] }: Expected): boolean {
  const lists = [...(calls === undefined ? [] : [calls]), ...ways.map((way) => way.calls)];
  const everyWay = lists.length > 0 && lists.every((list) => list.length > 0);
  return steps.length > 0 || mustCall.length > 0 || everyWay;
}

/**
 * What aggregation needs of a case.
 * @param trials trials planned for the case
 */
export function caseFacts(
  evalCase: EvalCase,
  options: { suite: Pick<Suite, 'judge' | 'scorers'>; contentHash: string; trials: number },
): CaseFacts {
  const own = (options.suite.scorers ?? []).map(({ name }) => name);
  return {
    case_id: evalCase.id,
    content_hash: options.contentHash,
    category: evalCase.category ?? null,
    difficulty: evalCase.difficulty ?? null,
    dimension: evalCase.dimension ?? null,
    tags: evalCase.tags ?? [],
    trials: options.trials,
    applies: appliesTo(evalCase, options.suite),
    ...(own.length === 0 ? {} : { own_scorers: own }),
  };
}
