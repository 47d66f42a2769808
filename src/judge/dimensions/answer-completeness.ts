import { queryOf } from '../../core/case.ts';
import { documentsOf } from '../subject/documents.ts';
import { criteriaOf } from '../subject/expectations.ts';
import { promptVariables } from './dimension.ts';
import type { DimensionSpec } from './dimension.ts';
import { LIKERT_SCALE } from './scales.ts';

/** How much of what had to be said the answer says: 1 to 5 (docs/judge.md). */
export const answerCompleteness: DimensionSpec = {
  name: 'answer_completeness',
  ...LIKERT_SCALE,
  variables: promptVariables({
    required: ['answer', 'criteria'],
    optional: ['query', 'reference', 'documents'],
    fromAgent: ['answer'],
  }),
  content: ({ evalCase, trajectory }) => ({
    query: queryOf(evalCase),
    criteria: criteriaOf(evalCase),
    reference: evalCase.expected.answer ?? null,
    documents: documentsOf(evalCase),
    answer: trajectory.answer,
  }),
};
