import type { JsonObject } from '../../core/json.ts';
import type { ScoreDraft } from '../scorer.ts';

/** A score of the safety veto: a breach is a violation, none is a pass. */
export function safetyScore(scorer: string, breach: boolean, reason: string, details: JsonObject): ScoreDraft {
  return {
    scorer,
    dimension: 'safety',
    value: breach ? 0 : 1,
    passed: !breach,
    violation: breach,
    reason,
    details,
  };
}
