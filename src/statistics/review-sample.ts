import { TOLERANCE } from '../core/score.ts';
import { createRandom, seedOf } from './random.ts';

/** A verdict of the judge on one trial in one dimension. */
export interface JudgedTrial {
  case_id: string;
  trial_index: number;
  dimension: string;
  /** The category of the dimension's scale it fell into. */
  verdict: string;
}

/**
 * A sample for people to label, stratified by dimension and verdict: of each stratum the share, rounded up, so that a rare
 * verdict is in it too. The same verdicts and seed give the same sample, in whatever order the verdicts come. Ordered by
 * dimension; within one the verdicts are mixed, so that their place says nothing about them.
 * @param options.share of the verdicts, over 0 and up to 1
 * @param options.salt what the draw depends on beside the seed, such as the evaluation's id: else every evaluation of a
 * suite would give the same trials
 */
export function reviewSample<T extends JudgedTrial>(
  verdicts: Iterable<T>,
  options: { share: number; seed: number; salt: string },
): T[] {
  const strata = new Map<string, { drawn: T; rank: number; key: string }[]>();
  for (const drawn of verdicts) {
    const stratum = JSON.stringify([drawn.dimension, drawn.verdict]);
    const key = JSON.stringify([drawn.dimension, drawn.case_id, drawn.trial_index]);
    const entry = { drawn, key, rank: rankOf(`${options.seed}\n${options.salt}\n${key}`) };
    const known = strata.get(stratum);
    if (known === undefined) strata.set(stratum, [entry]);
    else known.push(entry);
  }
  const byRank = (a: { rank: number; key: string }, b: { rank: number; key: string }): number =>
    a.rank - b.rank || (a.key < b.key ? -1 : 1);
  return [...strata.values()]
    .flatMap((stratum) => {
      // 0.05 × 60 is a hair over 3 in doubles.
      const size = Math.ceil(options.share * stratum.length - TOLERANCE);
      return stratum.sort(byRank).slice(0, size);
    })
    .sort((a, b) => compare(a.drawn.dimension, b.drawn.dimension) || byRank(a, b))
    .map(({ drawn }) => drawn);
}

function rankOf(text: string): number {
  const drawn = new Int32Array(1);
  createRandom(seedOf(text))(drawn);
  return (drawn[0] ?? 0) >>> 0;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
