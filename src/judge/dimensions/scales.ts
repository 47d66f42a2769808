import { atLeast } from '../../core/score.ts';
import { contradictions } from '../contradiction.ts';
import { closedObject, REPLY_PART } from './dimension.ts';
import type { DimensionSpec } from './dimension.ts';

type Scale = Pick<DimensionSpec, 'scale' | 'passesAt' | 'replySchema' | 'read'>;

/** `{"score": 0 | 1, "reason"}`: passes at 1; value 0 or 1. */
export const BINARY_SCALE: Scale = {
  scale: 'binary',
  passesAt: 1,
  replySchema: closedObject({ score: REPLY_PART.binary, reason: REPLY_PART.text }),
  read: (fields) => {
    const score = fields.binary('score');
    const decided = { value: score, passed: score === 1 };
    return {
      ...decided,
      reason: fields.text('reason'),
      parsed: { score },
      flags: contradictions(fields, decided, ['score']),
    };
  },
};

const LIKERT = { lowest: 1, highest: 5, passesAt: 3.5 } as const;

/** Place of a Likert number, or of an average of some, in [0,1]: (x − 1) ÷ 4. */
function likertValue(score: number): number {
  return (score - LIKERT.lowest) / (LIKERT.highest - LIKERT.lowest);
}

/**
 * `{"score": 1 … 5, "reason"}`, a whole number: passes at 3.5 (an average over votes may lie between the numbers); value
 * (score − 1) ÷ 4.
 */
export const LIKERT_SCALE: Scale = {
  scale: 'likert',
  passesAt: likertValue(LIKERT.passesAt),
  replySchema: closedObject({ score: REPLY_PART.likert, reason: REPLY_PART.text }),
  read: (fields) => {
    const score = fields.integer('score', LIKERT.lowest, LIKERT.highest);
    const passed = atLeast(score, LIKERT.passesAt);
    return {
      value: likertValue(score),
      passed,
      reason: fields.text('reason'),
      parsed: { score },
      // A sum the judge adds is on the scale it was asked for.
      flags: contradictions(fields, { value: score, passed }, ['score']),
    };
  },
};
