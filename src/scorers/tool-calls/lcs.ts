/**
 * The lexicographically first longest common subsequence, as pairs of positions: among the longest ones, the one whose
 * pairs (position in `a`, position in `b`), read from the start, are smallest.
 */
export function firstLongestCommonSubsequence(a: readonly string[], b: readonly string[]): [number, number][] {
  // Most agents do what is expected: then every pair stands in its place.
  if (a.length === b.length && a.every((name, at) => name === b[at])) return a.map((_name, at) => [at, at]);
  const width = b.length + 1;
  const length = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      const at = i * width + j;
      length[at] =
        a[i] === b[j] ? (length[at + width + 1] ?? 0) + 1 : Math.max(length[at + width] ?? 0, length[at + 1] ?? 0);
    }
  }
  const pairs: [number, number][] = [];
  let j = 0;
  for (let i = 0; i < a.length; i += 1) {
    const remaining = length[i * width + j] ?? 0;
    if (remaining === 0) break;
    // The first place of this name in `b` leaves most of `b` for the rest: if it does not do, no later one does.
    const place = b.indexOf(a[i] ?? '', j);
    if (place < 0 || (length[(i + 1) * width + place + 1] ?? 0) + 1 !== remaining) continue;
    pairs.push([i, place]);
    j = place + 1;
  }
  return pairs;
}
