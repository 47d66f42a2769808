import { queryOf } from '../../core/case.ts';
import { relevantIds } from '../../core/relevant-documents.ts';
import { retrievedOf } from '../subject/documents.ts';
import { criteriaOf } from '../subject/expectations.ts';
import { listed } from '../subject/steps.ts';
import { promptVariables } from './dimension.ts';
import type { DimensionSpec } from './dimension.ts';
import { LIKERT_SCALE } from './scales.ts';

/** Were the expected documents retrieved, and nothing beside the point: 1 to 5 (docs/judge.md). */
export const ragRecall: DimensionSpec = {
  name: 'rag_recall',
  ...LIKERT_SCALE,
  variables: promptVariables({
    required: ['retrieved', 'expected_documents'],
    optional: ['query', 'criteria', 'answer'],
    fromAgent: ['retrieved', 'answer'],
  }),
  content: ({ evalCase, trajectory }) => ({
    query: queryOf(evalCase),
    retrieved: retrievedOf(evalCase, trajectory),
    expected_documents: listed(relevantIds(evalCase.expected)),
    criteria: criteriaOf(evalCase),
    answer: trajectory.answer,
  }),
  notRecorded: ({ evalCase, trajectory }) =>
    retrievedOf(evalCase, trajectory) === null ? 'the trajectory records no retrieved documents' : null,
};
