import { queryOf } from '../../core/case.ts';
import { atLeast } from '../../core/score.ts';
import { contradictions } from '../contradiction.ts';
import { criteriaOf } from '../subject/expectations.ts';
import { NO_PLAN, reportedPlan } from '../subject/plan.ts';
import { listed } from '../subject/steps.ts';
import { closedObject, promptVariables, REPLY_PART } from './dimension.ts';
import type { DimensionSpec } from './dimension.ts';

const PASSES_AT = 0.7;

/** Share of the required plan points in the agent's plan; passes at 0.7, the order stands beside it (docs/judge.md). */
export const planQuality: DimensionSpec = {
  name: 'plan_quality',
  scale: 'unit',
  passesAt: PASSES_AT,
  variables: promptVariables({
    required: ['plan', 'points'],
    optional: ['query', 'criteria'],
    fromAgent: ['plan'],
  }),
  content: ({ evalCase, trajectory }) => ({
    query: queryOf(evalCase),
    plan: reportedPlan(trajectory),
    points: listed(evalCase.expected.plan ?? []),
    criteria: criteriaOf(evalCase),
  }),
  notRecorded: ({ trajectory }) => (reportedPlan(trajectory) === null ? NO_PLAN : null),
  replySchema: closedObject({ coverage: REPLY_PART.unit, order_score: REPLY_PART.unit, summary: REPLY_PART.text }),
  read: (fields) => {
    const parts = { coverage: fields.number('coverage', 0, 1), order_score: fields.number('order_score', 0, 1) };
    const decided = { value: parts.coverage, passed: atLeast(parts.coverage, PASSES_AT) };
    return {
      ...decided,
      reason: fields.text('summary'),
      parsed: parts,
      flags: contradictions(fields, decided, []),
    };
  },
};
