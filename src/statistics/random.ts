/** Fills a list with the next 32-bit integers of a stream that depends on the seed alone. */
export type Random = (into: Int32Array) => void;

/** FNV-1a hash of a text, 32 bits: turns a name into a seed. */
export function seedOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}

/**
 * sfc32 (Doty-Humphrey, PractRand): small, fast, and good enough for resampling. Not for secrets. It fills lists since
 * one call a number takes five times as long.
 */
export function createRandom(seed: number): Random {
  const state = Int32Array.of(0, 0, seed, 1);
  const fill: Random = (into) => {
    let [a = 0, b = 0, c = 0, counter = 0] = state;
    for (let i = 0; i < into.length; i += 1) {
      const result = (a + b + counter) | 0;
      counter = (counter + 1) | 0;
      a = b ^ (b >>> 9);
      b = (c + (c << 3)) | 0;
      c = (((c << 21) | (c >>> 11)) + result) | 0;
      into[i] = result;
    }
    state.set([a, b, c, counter]);
  };
  fill(new Int32Array(15));
  return fill;
}
