import { queryOf } from '../../core/case.ts';
import { contradictions } from '../contradiction.ts';
import { criteriaOf } from '../subject/expectations.ts';
import { closedObject, promptVariables, REPLY_PART } from './dimension.ts';
import type { DimensionSpec } from './dimension.ts';

const VALUE = { success: 1, partial: 0.5, failure: 0 } as const;
const RESULTS = ['success', 'partial', 'failure'] as const;

/** Did the agent do what was asked: success, partial or failure = 1, 0.5, 0; passes at success (docs/scoring.md, 2 and 5). */
export const taskCompletion: DimensionSpec = {
  name: 'task_completion',
  scale: 'words',
  passesAt: VALUE.success,
  variables: promptVariables({
    required: ['query', 'answer'],
    optional: ['reference', 'criteria'],
    fromAgent: ['answer'],
  }),
  content: ({ evalCase, trajectory }) => ({
    query: queryOf(evalCase),
    reference: evalCase.expected.answer ?? null,
    criteria: criteriaOf(evalCase),
    answer: trajectory.answer,
  }),
  replySchema: closedObject({ result: { type: 'string', enum: [...RESULTS] }, reason: REPLY_PART.text }),
  read: (fields) => {
    const result = fields.choice('result', RESULTS);
    const decided = { value: VALUE[result], passed: result === 'success' };
    return {
      ...decided,
      reason: fields.text('reason'),
      parsed: { result },
      flags: contradictions(fields, decided, ['result']),
    };
  },
};
