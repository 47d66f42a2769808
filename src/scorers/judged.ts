import type { EvalCase } from '../core/case.ts';
import { queryOf } from '../core/case.ts';
import type { JudgeDimension } from '../core/suite.ts';
import { hasOutcomeChecks } from '../core/outcome-checks.ts';
import type { ScoringSuite } from './scorer.ts';

/** Which judge dimensions apply to a case; empty without a judge. */
export function neededDimensions(evalCase: EvalCase, suite: Pick<ScoringSuite, 'judge'>): JudgeDimension[] {
  const { judge } = suite;
  if (judge === null) return [];
  return [...new Set(judge.dimensions)].filter((dimension) => applies(dimension, evalCase));
}

function applies(dimension: JudgeDimension, evalCase: EvalCase): boolean {
  const { answer, criteria } = evalCase.expected;
  const reference = isText(answer) || isText(criteria);
  switch (dimension) {
    case 'task_completion':
      // A judge is shown the query and what a good answer is; without both there is nothing to judge by.
      return !hasOutcomeChecks(evalCase) && isText(queryOf(evalCase)) && (reference || isText(evalCase.rubric));
    case 'answer_quality':
      return reference;
  }
}

function isText(text: string | undefined): boolean {
  return text !== undefined && text.trim() !== '';
}
