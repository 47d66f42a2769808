import { RE2JS } from 're2js';

/** Longest pattern accepted, in characters: compiling is linear too, but not free. */
const LONGEST_PATTERN = 10_000;
const CACHE_SIZE = 500;
const cache = new Map<string, RE2JS | string>();

/**
 * Compiles a user's pattern for an engine whose time is linear in the text (RE2 syntax: no look-around, no back references).
 * @returns the compiled pattern, or a sentence saying what is wrong with it.
 */
export function compileLinear(pattern: string, ignoreCase: boolean): RE2JS | string {
  const key = `${ignoreCase ? 'i' : '-'}${pattern}`;
  const known = cache.get(key);
  if (known !== undefined) return known;
  const compiled = compile(pattern, ignoreCase);
  if (cache.size >= CACHE_SIZE) cache.clear();
  cache.set(key, compiled);
  return compiled;
}

function compile(pattern: string, ignoreCase: boolean): RE2JS | string {
  if (pattern.length > LONGEST_PATTERN) return `pattern of ${pattern.length} characters; at most ${LONGEST_PATTERN}`;
  try {
    return RE2JS.compile(pattern, ignoreCase ? RE2JS.CASE_INSENSITIVE : 0);
  } catch (error) {
    return `not a valid RE2 pattern: ${error instanceof Error ? error.message : String(error)}`;
  }
}
