import { gradedDocuments } from '../../core/relevant-documents.ts';
import { atLeast } from '../../core/score.ts';
import { RETRIEVAL_MEASURES } from '../../core/retrieval-config.ts';
import type { RetrievalMeasure } from '../../core/retrieval-config.ts';
import type { ScoreDraft, Scorer } from '../scorer.ts';
import { listed } from '../values/preview.ts';
import { rankingMetrics } from './ranking.ts';
import type { RankingMetrics } from './ranking.ts';
import { retrievedDocuments } from './retrieved.ts';

/**
 * `doc_recall`, `doc_precision`, `doc_mrr`, `doc_ndcg`: the documents the agent retrieved against `expected.doc_ids`, at
 * the suite's `retrieval.k`. A case without a relevant document has none of them; nothing retrieved is 0; what is not
 * known is null. Each passes from the suite's `retrieval.pass_at`, default 1.
 */
export const docMetrics: Scorer = ({ evalCase, trajectory, suite }) => {
  const documents = gradedDocuments(evalCase.expected);
  if (!documents.some(({ grade }) => grade > 0)) return [];
  const retrieved = retrievedDocuments(trajectory, suite.retrieval);
  if (!retrieved.known) return RETRIEVAL_MEASURES.map((measure) => draft(measure, null, null, retrieved.reason));
  const metrics = rankingMetrics(retrieved.ids, documents, suite.retrieval?.k ?? null);
  return RETRIEVAL_MEASURES.map((measure) => {
    const value = metrics[measure];
    const passes = value === null ? null : atLeast(value, suite.retrieval?.pass_at?.[measure] ?? 1);
    return draft(measure, value, passes, reasonOf(measure, metrics));
  });
};

function draft(measure: RetrievalMeasure, value: number | null, passed: boolean | null, reason: string): ScoreDraft {
  return { scorer: `doc_${measure}`, dimension: null, value, passed, reason, details: null };
}

function reasonOf(measure: RetrievalMeasure, { k, found, missing, mrr, ndcg }: RankingMetrics): string {
  const relevant = found.length + missing.length;
  switch (measure) {
    case 'recall':
      return `${found.length} of ${relevant} documents retrieved${missing.length === 0 ? '' : `; missing: ${listed(missing)}`}`;
    case 'precision':
      return k === 0 ? 'nothing was retrieved' : `${found.length} of the first ${k} are relevant`;
    case 'mrr':
      return mrr === null || mrr === 0
        ? `no relevant document among the first ${k}`
        : `the first relevant document is at rank ${Math.round(1 / mrr)}`;
    case 'ndcg':
      return `ranking compared with the ideal one at ${k}: ${(ndcg ?? 0).toFixed(3)}`;
  }
}
