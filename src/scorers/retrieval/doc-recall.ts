import { listed } from '../values/preview.ts';
import type { Scorer } from '../scorer.ts';

/**
 * Share of `expected.doc_ids` among the documents the agent retrieved; nothing retrieved: 0. Null when the agent does not
 * report what it retrieved. A case that names no document has no recall.
 */
export const docRecall: Scorer = ({ evalCase, trajectory }) => {
  const wanted = [...new Set(evalCase.expected.doc_ids ?? [])];
  if (wanted.length === 0) return [];
  const retrieved = trajectory.retrieved_doc_ids === null ? null : new Set(trajectory.retrieved_doc_ids);
  const missing = retrieved === null ? wanted : wanted.filter((id) => !retrieved.has(id));
  const found = wanted.length - missing.length;
  return [
    {
      scorer: 'doc_recall',
      dimension: null,
      value: retrieved === null ? null : found / wanted.length,
      passed: retrieved === null ? null : missing.length === 0,
      reason:
        retrieved === null
          ? 'the agent reported no retrieved documents'
          : `${found} of ${wanted.length} documents retrieved${missing.length === 0 ? '' : `; missing: ${listed(missing)}`}`,
      details: null,
    },
  ];
};
