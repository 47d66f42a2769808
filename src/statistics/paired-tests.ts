import { logGamma } from './special-functions.ts';
import { createRandom } from './random.ts';

/** Up to here 0.5^n is far from the smallest double. */
const EXACT_BINOMIAL = 900;

/**
 * Exact two-sided McNemar test: min(1, 2 · P(X <= min(b, c))), X ~ Binomial(b + c, 1/2).
 * @param b pairs that were 1 and are 0
 * @param c pairs that were 0 and are 1; no discordant pair gives 1
 */
export function mcnemarExact(b: number, c: number): number {
  const n = b + c;
  if (n === 0) return 1;
  if (n <= EXACT_BINOMIAL) {
    // Powers of two and small ratios: without rounding for the counts people check by hand.
    let term = 0.5 ** n;
    let sum = 0;
    for (let i = 0; i <= Math.min(b, c); i += 1) {
      sum += term;
      term = (term * (n - i)) / (i + 1);
    }
    return Math.min(1, 2 * sum);
  }
  const logHalf = n * Math.log(0.5);
  let sum = 0;
  for (let i = 0; i <= Math.min(b, c); i += 1) {
    sum += Math.exp(logGamma(n + 1) - logGamma(i + 1) - logGamma(n - i + 1) + logHalf);
  }
  return Math.min(1, 2 * sum);
}

/** Up to this many differing pairs every one of the 2^n sign patterns is counted. */
const EXACT_PAIRS = 14;
const MAX_DRAWS = 10_000;
const MIN_DRAWS = 1_000;
/** Additions one test may cost. */
const WORK = 50_000_000;

/** Sums equal but for rounding count as equal, so that the observed pattern counts itself. */
function reaches(sum: number, observed: number): boolean {
  return Math.abs(sum) >= observed - 1e-12 * Math.max(1, observed);
}

function exactShare(deltas: readonly number[], observed: number): number {
  const patterns = 2 ** deltas.length;
  let hits = 0;
  for (let pattern = 0; pattern < patterns; pattern += 1) {
    let sum = 0;
    deltas.forEach((delta, i) => {
      sum += (pattern >>> i) & 1 ? -delta : delta;
    });
    if (reaches(sum, observed)) hits += 1;
  }
  return hits / patterns;
}

/**
 * Two-sided paired permutation (sign-flip) test of mean difference 0 on case means.
 * Exact up to 14 differing pairs; else (hits + 1) / (draws + 1) over 10,000 seeded draws, fewer (at least 1,000) for
 * more than 5,000 pairs. No differing pair gives 1.
 */
export function pairedPermutation(deltas: readonly number[], seed: number): number {
  const differing = deltas.filter((delta) => delta !== 0);
  if (differing.length === 0) return 1;
  const observed = Math.abs(differing.reduce((sum, delta) => sum + delta, 0));
  if (differing.length <= EXACT_PAIRS) return exactShare(differing, observed);
  const values = Float64Array.from(differing);
  const draws = Math.max(MIN_DRAWS, Math.min(MAX_DRAWS, Math.floor(WORK / values.length)));
  const random = createRandom(seed);
  let hits = 0;
  for (let draw = 0; draw < draws; draw += 1) {
    let sum = 0;
    let bits = 0;
    for (let i = 0; i < values.length; i += 1) {
      if (i % 32 === 0) bits = random();
      sum += (bits & 1) === 1 ? -(values[i] ?? 0) : (values[i] ?? 0);
      bits >>>= 1;
    }
    if (reaches(sum, observed)) hits += 1;
  }
  return (hits + 1) / (draws + 1);
}

/** Holm's step-down correction (Holm 1979): adjusted p values in the order given, to compare with alpha directly. */
export function holm(ps: readonly number[]): number[] {
  const order = ps.map((p, index) => ({ p, index })).sort((a, b) => a.p - b.p || a.index - b.index);
  const adjusted = Array.from<number>({ length: ps.length }).fill(1);
  let running = 0;
  order.forEach(({ p, index }, rank) => {
    running = Math.max(running, Math.min(1, (ps.length - rank) * p));
    adjusted[index] = running;
  });
  return adjusted;
}
