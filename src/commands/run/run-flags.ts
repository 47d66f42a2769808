/** Flags of `assay run`, as commander hands them over. */
export interface RunFlags {
  trials?: number;
  concurrency?: number;
  filter?: string[];
  limit?: number;
  label?: string[];
  budgetUsd?: number;
  id?: string;
  new?: boolean;
  detach?: boolean;
  failFast?: boolean;
  baseline?: string;
  dryRun?: boolean;
  worker: boolean;
  judgeCache: boolean;
  json?: boolean;
}
