/** Flags of `assay compare`, as commander hands them over. */
export interface CompareFlags {
  pairwise?: boolean;
  limit?: number;
  concurrency?: number;
  judgeCache: boolean;
  json?: boolean;
}
