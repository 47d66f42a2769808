import { historyOf, lastQuery } from '../subject/dialogue.ts';
import { criteriaOf } from '../subject/expectations.ts';
import { promptVariables } from './dimension.ts';
import type { DimensionSpec } from './dimension.ts';
import { LIKERT_SCALE } from './scales.ts';

/** Does the answer use what was said earlier, and contradict none of it: 1 to 5 (docs/judge.md). */
export const multiTurnCoherence: DimensionSpec = {
  name: 'multi_turn_coherence',
  ...LIKERT_SCALE,
  variables: promptVariables({
    required: ['history', 'answer'],
    optional: ['query', 'criteria'],
    fromAgent: ['history', 'answer'],
  }),
  content: ({ evalCase, trajectory }) => ({
    query: lastQuery(evalCase),
    history: historyOf(evalCase, trajectory),
    criteria: criteriaOf(evalCase),
    answer: trajectory.answer,
  }),
};
