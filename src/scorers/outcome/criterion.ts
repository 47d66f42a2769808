import type { JsonObject } from '../../core/json.ts';
import type { ScoreDraft } from '../scorer.ts';

/** One acceptance criterion of a case: `holds` null = cannot be known from what was recorded. */
export interface Criterion {
  holds: boolean | null;
  /** What was wanted and what was got; for a reader. */
  reason: string;
}

/** A score over a check's criteria: the share that holds; null when one of them cannot be known. */
export function scoreOfCriteria(
  scorer: string,
  criteria: readonly Criterion[],
  details: JsonObject | null = null,
): ScoreDraft[] {
  if (criteria.length === 0) return [];
  const failed = criteria.filter(({ holds }) => holds === false);
  const unknown = criteria.filter(({ holds }) => holds === null);
  const telling = failed[0] ?? unknown[0];
  const more = failed.length > 1 ? ` (and ${failed.length - 1} more)` : '';
  const known = unknown.length === 0;
  return [
    {
      scorer,
      dimension: null,
      value: known ? (criteria.length - failed.length) / criteria.length : null,
      passed: failed.length > 0 ? false : known ? true : null,
      reason: telling === undefined ? criteria.map(({ reason }) => reason).join('; ') : telling.reason + more,
      details,
    },
  ];
}
