import { escapeText } from '../core/storable-text.ts';

/**
 * Order of case ids: that of `ORDER BY case_id COLLATE "C"` in Postgres, which is by code point of the ids as they are
 * stored. JavaScript's own `<` compares UTF-16 units and differs for characters outside the basic plane.
 */
export function compareCaseIds(a: string, b: string): number {
  return a === b ? 0 : compareCodePoints(escapeText(a), escapeText(b));
}

function compareCodePoints(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  let i = 0;
  while (i < length && a.charCodeAt(i) === b.charCodeAt(i)) i += 1;
  if (i === length) return a.length - b.length;
  const x = a.charCodeAt(i);
  const y = b.charCodeAt(i);
  // A surrogate stands for a code point above every other unit, so it sorts last.
  const surrogateX = x >= 0xd800 && x <= 0xdfff;
  const surrogateY = y >= 0xd800 && y <= 0xdfff;
  return surrogateX === surrogateY ? x - y : surrogateX ? 1 : -1;
}
