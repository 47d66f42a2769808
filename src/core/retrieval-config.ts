/** What is measured of retrieved documents: the scores `doc_recall`, `doc_precision`, `doc_mrr`, `doc_ndcg`. */
export const RETRIEVAL_MEASURES = ['recall', 'precision', 'mrr', 'ndcg'] as const;
export type RetrievalMeasure = (typeof RETRIEVAL_MEASURES)[number];

/** How retrieval is scored, and how retrieved documents are known of an agent that does not report them. */
export interface RetrievalConfig {
  /** Depth looked at. Default: as many as were retrieved. */
  k?: number;
  /** The retrieval tool: its results say what was retrieved, where the agent does not. With `path`. */
  tool?: string;
  /** Where the ids are in its result, best first: `documents[].id`, `[].id`, `ids[]`. With `tool`. */
  path?: string;
  /** From where each score passes; default 1 each. */
  pass_at?: Partial<Record<RetrievalMeasure, number>>;
}
