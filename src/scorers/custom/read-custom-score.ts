import { isJsonObject, type Json } from '../../core/json.ts';
import type { CustomScorerConfig } from '../../core/suite.ts';
import { preview } from '../values/preview.ts';
import type { ScoreDraft } from '../scorer.ts';

const KEYS = ['value', 'passed', 'reason', 'details'];
const LONGEST_REASON = 2_000;
/** Characters of JSON. */
const LONGEST_DETAILS = 65_536;

/** What a scorer of the user's own returned, as a score. What is not a valid score becomes a null one with the cause: never 0, never a pass. */
export function readCustomScore(config: Pick<CustomScorerConfig, 'name'>, returned: Json): ScoreDraft {
  const problem = problemOf(returned);
  if (problem !== null || !isJsonObject(returned)) return unscored(config, `it returned ${problem}`);
  const { value = null, passed = null, reason = '', details = null } = returned;
  return {
    scorer: config.name,
    dimension: null,
    value: value as number | null,
    passed: passed as boolean | null,
    reason: (reason as string).slice(0, LONGEST_REASON),
    details: isJsonObject(details) ? details : null,
  };
}

/** The score of a scorer that gave none. */
export function unscored(config: Pick<CustomScorerConfig, 'name'>, cause: string): ScoreDraft {
  const reason = `not scored: ${cause}`.slice(0, LONGEST_REASON);
  return { scorer: config.name, dimension: null, value: null, passed: null, reason, details: null };
}

/** What is wrong with a returned value, in words that follow "it returned"; null: nothing. */
function problemOf(returned: Json): string | null {
  const expected = 'expected {value, passed, reason, details?}';
  if (!isJsonObject(returned)) return `${preview(returned)}; ${expected}`;
  const unknown = Object.keys(returned).find((key) => !KEYS.includes(key));
  if (unknown !== undefined) return `the unknown key ${preview(unknown)}; ${expected}`;
  const { value, passed = null, reason, details = null } = returned;
  if (value === undefined) return `no value; expected a number from 0 to 1, or null`;
  if (value !== null && (typeof value !== 'number' || value < 0 || value > 1)) {
    return `value ${preview(value)}; expected a number from 0 to 1, or null`;
  }
  if (passed !== null && typeof passed !== 'boolean') return `passed ${preview(passed)}; expected true, false or null`;
  if (value === null && passed !== null) return `passed ${passed} without a value; expected null beside value null`;
  if (typeof reason !== 'string' || reason.trim() === '') return `no reason; expected a sentence`;
  if (details !== null && !isJsonObject(details)) return `details ${preview(details)}; expected an object`;
  const size = JSON.stringify(details).length;
  return size > LONGEST_DETAILS ? `details of ${size} characters; at most ${LONGEST_DETAILS}` : null;
}
