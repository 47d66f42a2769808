/** A stream of 32-bit unsigned integers that depends on the seed alone. */
export type Random = () => number;

/** FNV-1a hash of a text, 32 bits: turns a name into a seed. */
export function seedOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}

/** sfc32 (Doty-Humphrey, PractRand): small, fast, and good enough for resampling. Not for secrets. */
export function createRandom(seed: number): Random {
  let a = 0;
  let b = 0;
  let c = seed | 0;
  let counter = 1;
  const next = (): number => {
    const result = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + result;
    c |= 0;
    return result >>> 0;
  };
  for (let i = 0; i < 15; i += 1) next();
  return next;
}
