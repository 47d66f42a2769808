import type { Json, JsonObject } from './json.ts';
import { isJsonObject } from './json.ts';

/** Keywords of matcher objects (docs/scoring.md): an object whose keys are all keywords is a matcher, any other a literal. */
export const MATCHER_KEYWORDS = [
  'any_of',
  'optional',
  'number',
  'regex',
  'ignore_case',
  'date',
  'unordered',
  'schema',
  'coerce',
  'any',
  'equals',
] as const;

const KEYWORDS: ReadonlySet<string> = new Set(MATCHER_KEYWORDS);

/** True for a word that makes an object a matcher. */
export function isMatcherKeyword(key: string): boolean {
  return KEYWORDS.has(key);
}

/** True for an object whose keys are all matcher keywords. `{}` is a literal. */
export function isMatcher(value: Json): value is JsonObject {
  if (!isJsonObject(value)) return false;
  const keys = Object.keys(value);
  return keys.length > 0 && keys.every(isMatcherKeyword);
}
