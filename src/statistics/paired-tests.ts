import { logGamma } from './special-functions.ts';
import { createRandom, type Random } from './random.ts';

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
/** Signs one test may draw: 10,000 draws up to 10,000 differing pairs, about 0.05 s. */
const SIGNS = 100_000_000;

/**
 * The sum from which a pattern counts as at least as far from 0 as the observed one. Sums equal but for rounding count
 * as equal, so that the observed pattern counts itself; rounding grows with what is summed.
 */
function thresholdOf(deltas: readonly number[], observed: number): number {
  return observed - 1e-12 * deltas.reduce((sum, delta) => sum + Math.abs(delta), 0);
}

function exactShare(deltas: readonly number[], threshold: number): number {
  const patterns = 2 ** deltas.length;
  let hits = 0;
  for (let pattern = 0; pattern < patterns; pattern += 1) {
    let sum = 0;
    deltas.forEach((delta, i) => {
      sum += (pattern >>> i) & 1 ? -delta : delta;
    });
    if (Math.abs(sum) >= threshold) hits += 1;
  }
  return hits / patterns;
}

/**
 * The sums of 32 values under every sign, 8 values at a time: 4 parts of 2^8 sums each; a bit set means minus.
 * Each sum is one value added to a sum of fewer, which stands there already.
 */
function fillSignedSums(sums: Float64Array, values: Float64Array, from: number): void {
  for (let part = 0; part < 4; part += 1) {
    const start = 256 * part;
    sums[start] = 0;
    for (let bit = 0, known = 1; bit < 8; bit += 1, known *= 2) {
      const value = values[from + 8 * part + bit] ?? 0;
      for (let at = start; at < start + known; at += 1) {
        const sum = sums[at] ?? 0;
        sums[at] = sum + value;
        sums[at + known] = sum - value;
      }
    }
  }
}

/**
 * Sums of all values under random signs, one a draw. The signs of 32 values are one random number a draw, and each byte
 * of it looks up the sum of its 8 values.
 */
function drawSums(values: Float64Array, draws: number, random: Random): Float64Array {
  const sums = new Float64Array(draws);
  const signs = new Int32Array(draws);
  const table = new Float64Array(1024);
  for (let from = 0; from < values.length; from += 32) {
    fillSignedSums(table, values, from);
    random(signs);
    addSigned(sums, table, signs);
  }
  return sums;
}

function addSigned(sums: Float64Array, table: Float64Array, signs: Int32Array): void {
  for (let draw = 0; draw < sums.length; draw += 1) {
    // Every index is in range; a fallback for each costs a third of the time.
    const bits = signs[draw] as number;
    const low = (table[bits & 255] as number) + (table[256 + ((bits >>> 8) & 255)] as number);
    const high = (table[512 + ((bits >>> 16) & 255)] as number) + (table[768 + (bits >>> 24)] as number);
    sums[draw] = (sums[draw] as number) + low + high;
  }
}

/**
 * Two-sided paired permutation (sign-flip) test of mean difference 0 on case means.
 * Exact up to 14 differing pairs; else (hits + 1) / (draws + 1) over seeded draws: 10,000 up to 10,000 differing pairs,
 * fewer beyond, at least 1,000. The standard error of p is sqrt(p (1 - p) / draws): at p = .05 it is .002 with 10,000
 * draws, .007 with 1,000. No differing pair gives 1.
 */
export function pairedPermutation(deltas: readonly number[], seed: number): number {
  const differing = deltas.filter((delta) => delta !== 0);
  if (differing.length === 0) return 1;
  const observed = Math.abs(differing.reduce((sum, delta) => sum + delta, 0));
  const threshold = thresholdOf(differing, observed);
  if (differing.length <= EXACT_PAIRS) return exactShare(differing, threshold);
  const values = Float64Array.from(differing);
  const draws = Math.max(MIN_DRAWS, Math.min(MAX_DRAWS, Math.floor(SIGNS / values.length)));
  const sums = drawSums(values, draws, createRandom(seed));
  let hits = 0;
  for (const sum of sums) if (Math.abs(sum) >= threshold) hits += 1;
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
