import type { EvalCase } from './case.ts';
import { queryOf } from './case.ts';
import { hasOutcomeChecks } from './outcome-checks.ts';
import { relevantIds } from './relevant-documents.ts';
import type { JudgeConfig, JudgeDimension } from './suite.ts';

/** Dimensions a case is about when it names one of them: it is then judged in that one and in none of the others. */
const SUBJECTS: ReadonlySet<string> = new Set<JudgeDimension>([
  'tool_selection',
  'prompt_assembly',
  'subagent_isolation',
  'rag_recall',
  'answer_completeness',
  'multi_turn_coherence',
]);

/**
 * The judge dimensions a case needs, of those the suite lists: known before the agent runs, and independent of what it
 * does. Empty without a judge. A dimension that has nothing to judge by in this case is left out (docs/judge.md).
 */
export function judgedDimensions(evalCase: EvalCase, judge: Pick<JudgeConfig, 'dimensions'> | null): JudgeDimension[] {
  const subject = evalCase.dimension !== undefined && SUBJECTS.has(evalCase.dimension) ? evalCase.dimension : null;
  return [...new Set(judge?.dimensions)].filter((dimension) => {
    if (subject !== null && SUBJECTS.has(dimension) && dimension !== subject) return false;
    return needs(dimension, evalCase);
  });
}

/** Whether the case has what the dimension is judged by; its own dimension needs less, for it was said to be about that. */
function needs(dimension: JudgeDimension, evalCase: EvalCase): boolean {
  const { expected, context, rubric } = evalCase;
  const reference = isText(expected.answer) || isText(expected.criteria);
  const rules = reference || isText(rubric);
  const own = evalCase.dimension === dimension;
  switch (dimension) {
    case 'task_completion':
      // A judge is shown the query and what a good answer is; without both there is nothing to judge by.
      return !hasOutcomeChecks(evalCase) && isText(queryOf(evalCase)) && rules;
    case 'answer_quality':
      return reference;
    case 'answer_completeness':
      return own ? rules : reference;
    case 'tool_selection':
      return isText(queryOf(evalCase)) && (expectsTools(evalCase) || (own && rules));
    case 'prompt_assembly':
      return isList(expected.prompt_segments) || isList(context?.prompt_segments) || (own && rules);
    case 'subagent_isolation':
      return isList(context?.sub_agents) || (own && rules);
    case 'rag_recall':
      return isList(relevantIds(expected)) || (own && rules);
    case 'multi_turn_coherence':
      return hasHistory(evalCase) || (own && rules);
    case 'trajectory':
      return isText(rubric) || (own && rules);
    case 'plan_quality':
      return isList(expected.plan) || (own && rules);
    case 'plan_consistency':
      return isList(expected.plan) || own;
    default:
      return dimension satisfies never;
  }
}

function expectsTools({ expected }: EvalCase): boolean {
  return expected.calls !== undefined || isList(expected.any_of) || isList(expected.must_call);
}

/** True when something was said before the user's last words. */
function hasHistory({ context, messages, turns }: EvalCase): boolean {
  const earlier = (messages ?? []).filter(({ role }) => role === 'user').length > 1;
  return isList(context?.memory) || earlier || (turns?.length ?? 0) > 1;
}

function isText(text: string | undefined): boolean {
  return text !== undefined && text.trim() !== '';
}

function isList(list: readonly unknown[] | undefined): boolean {
  return list !== undefined && list.length > 0;
}
