import { queryOf } from '../../core/case.ts';
import { atLeast } from '../../core/score.ts';
import { contradictions } from '../contradiction.ts';
import { criteriaOf } from '../subject/expectations.ts';
import { closedObject, promptVariables, REPLY_PART } from './dimension.ts';
import type { DimensionSpec } from './dimension.ts';

/** Weights of the four parts, sum 1 (docs/scoring.md, 5). */
const WEIGHTS = { accuracy: 0.35, completeness: 0.25, no_hallucination: 0.25, professionalism: 0.15 } as const;
const PASSES_AT = 0.75;

/** How good the answer is beside the reference: the weighted sum of four parts in 0..1, computed here; passes at 0.75. */
export const answerQuality: DimensionSpec = {
  name: 'answer_quality',
  scale: 'unit',
  passesAt: PASSES_AT,
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
  replySchema: closedObject({
    accuracy: REPLY_PART.unit,
    completeness: REPLY_PART.unit,
    no_hallucination: REPLY_PART.unit,
    professionalism: REPLY_PART.unit,
    reason: REPLY_PART.text,
  }),
  read: (fields) => {
    const parts = {
      accuracy: fields.number('accuracy', 0, 1),
      completeness: fields.number('completeness', 0, 1),
      no_hallucination: fields.number('no_hallucination', 0, 1),
      professionalism: fields.number('professionalism', 0, 1),
    };
    const sum =
      WEIGHTS.accuracy * parts.accuracy +
      WEIGHTS.completeness * parts.completeness +
      WEIGHTS.no_hallucination * parts.no_hallucination +
      WEIGHTS.professionalism * parts.professionalism;
    // Floating sums of weights can end a hair above 1.
    const value = Math.min(1, sum);
    const decided = { value, passed: atLeast(value, PASSES_AT) };
    return {
      ...decided,
      reason: fields.text('reason'),
      parsed: parts,
      flags: contradictions(fields, decided, []),
    };
  },
};
