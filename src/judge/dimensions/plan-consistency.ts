import { queryOf } from '../../core/case.ts';
import { atLeast } from '../../core/score.ts';
import { contradictions } from '../contradiction.ts';
import { NO_PLAN, planToFollow } from '../subject/plan.ts';
import { stepsOf } from '../subject/steps.ts';
import { closedObject, promptVariables, REPLY_PART } from './dimension.ts';
import type { DimensionSpec } from './dimension.ts';

const PASSES_AT = 0.7;

/** How far the steps taken are those of the plan, 0 to 1; passes at 0.7 (docs/judge.md). */
export const planConsistency: DimensionSpec = {
  name: 'plan_consistency',
  scale: 'unit',
  passesAt: PASSES_AT,
  variables: promptVariables({ required: ['plan', 'steps'], optional: ['query'], fromAgent: ['plan', 'steps'] }),
  content: ({ evalCase, trajectory }) => ({
    query: queryOf(evalCase),
    plan: planToFollow(evalCase, trajectory),
    steps: stepsOf(trajectory),
  }),
  notRecorded: ({ evalCase, trajectory }) => (planToFollow(evalCase, trajectory) === null ? NO_PLAN : null),
  replySchema: closedObject({ score: REPLY_PART.unit, reason: REPLY_PART.text }),
  read: (fields) => {
    const score = fields.number('score', 0, 1);
    const decided = { value: score, passed: atLeast(score, PASSES_AT) };
    return {
      ...decided,
      reason: fields.text('reason'),
      parsed: { score },
      flags: contradictions(fields, decided, ['score']),
    };
  },
};
