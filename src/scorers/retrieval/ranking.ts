import type { RelevantDocument } from '../../core/case.ts';

/** How good a ranking is; each in [0,1], null when no document is relevant. */
export interface RankingMetrics {
  recall: number | null;
  precision: number | null;
  /** Reciprocal rank of the first relevant document. */
  mrr: number | null;
  ndcg: number | null;
  /** The depth looked at. */
  k: number;
  /** Relevant documents within k, best first. */
  found: string[];
  /** Relevant documents not within k. */
  missing: string[];
}

/** Documents of a ranking, each at its first place. */
function withoutRepeats(ranking: readonly string[]): string[] {
  return [...new Set(ranking)];
}

/** Discounted cumulative gain: Σ gain / log2(rank + 1), ranks from 1 (Järvelin and Kekäläinen 2002, as trec_eval has it). */
function discounted(gains: readonly number[]): number {
  return gains.reduce((sum, gain, at) => sum + gain / Math.log2(at + 2), 0);
}

/**
 * recall@k, precision@k, MRR@k and nDCG@k, equal to trec_eval and scikit-learn. A document is relevant when its grade is
 * above 0. Repeats are removed before ranking; precision = relevant ÷ k, whether k were retrieved or not; the ideal
 * ranking of nDCG is cut at k. Nothing retrieved: 0. No relevant document: null.
 * @param cut k; null: as many as were retrieved
 */
export function rankingMetrics(
  ranking: readonly string[],
  documents: readonly RelevantDocument[],
  cut: number | null,
): RankingMetrics {
  const retrieved = withoutRepeats(ranking);
  const k = cut ?? retrieved.length;
  const grades = new Map(documents.filter(({ grade }) => grade > 0).map(({ id, grade }) => [id, grade]));
  const top = retrieved.slice(0, k);
  const found = top.filter((id) => grades.has(id));
  const seen = new Set(found);
  const missing = [...grades.keys()].filter((id) => !seen.has(id));
  if (grades.size === 0) return { recall: null, precision: null, mrr: null, ndcg: null, k, found, missing };
  if (top.length === 0) return { recall: 0, precision: 0, mrr: 0, ndcg: 0, k, found, missing };
  const first = top.findIndex((id) => grades.has(id));
  const ideal = [...grades.values()].sort((a, b) => b - a).slice(0, k);
  return {
    recall: found.length / grades.size,
    precision: found.length / k,
    mrr: first < 0 ? 0 : 1 / (first + 1),
    // A rounding of two sums in different order must not lift an ideal ranking over 1.
    ndcg: Math.min(1, discounted(top.map((id) => grades.get(id) ?? 0)) / discounted(ideal)),
    k,
    found,
    missing,
  };
}
