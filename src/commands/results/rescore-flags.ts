/** Flags of `assay rescore`, as commander hands them over. */
export interface RescoreFlags {
  suite?: string;
  asSnapshot?: boolean;
  skipChanged?: boolean;
  judgeTimes?: number;
  judgeCache: boolean;
  id?: string;
  label?: string[];
  baseline?: string;
  concurrency?: number;
  budgetUsd?: number;
  detach?: boolean;
  worker: boolean;
  json?: boolean;
}
