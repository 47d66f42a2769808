/** Below this share of agreement the rubric needs work (docs/statistics.md, "Human calibration"). */
export const AGREEMENT_LIMIT = 0.85;

/** A number with its 95 % interval; both ends null where there is none. */
export interface Estimate {
  value: number;
  low: number | null;
  high: number | null;
}

/** How far two raters agree. */
export interface Agreement {
  pairs: number;
  /** Cases the pairs belong to. */
  clusters: number;
  /** Counts over the whole declared scale: rows are the first rater, columns the second. */
  confusion: number[][];
  /** Share of pairs in the same category; null without pairs. */
  agreement: Estimate | null;
  /** Cohen's kappa; null without pairs, and when only one category occurs (there is no chance agreement to exceed). */
  kappa: Estimate | null;
  /** Quadratic-weighted kappa; null where kappa is, and for a scale without order. */
  weighted_kappa: Estimate | null;
}

/** A label the judge's verdict is another than. */
export interface Disagreement {
  case_id: string;
  trial: number;
  reviewer: string;
  human: string;
  judge: string;
}

/** Two reviewers on what both labelled. */
export interface ReviewerPair {
  first: string;
  second: string;
  agreement: Agreement | null;
  spearman: Estimate | null;
}

/** Judge against humans on one dimension, as asked with one prompt. */
export interface CalibrationGroup {
  dimension: string;
  prompt_hash: string | null;
  labels: number;
  /** Labels of trials the judge gave no verdict on: they agree and disagree with nothing. */
  unscored: number;
  reviewers: string[];
  /** Categories in order; null where there are none to compare (numbers only). */
  scale: string[] | null;
  ordinal: boolean;
  /** Rows are the human's label, columns the judge's. Null where the judge gave numbers that are on no scale. */
  agreement: Agreement | null;
  /** Mean human number of a trial against the judge's; null where a side is not numbers. */
  spearman: Estimate | null;
  reviewer_pairs: ReviewerPair[];
  /** Widest first, then by case. */
  disagreements: Disagreement[];
  /** True when agreement is under the limit. */
  needs_work: boolean;
}

/** Judge against humans: what `assay calibrate` says, and keeps for the report. */
export interface Calibration {
  schema: 'assay.calibration/1';
  limit: number;
  labels: number;
  compared: number;
  /** Share of all compared labels the judge agrees with; null when none could be compared. */
  agreement: number | null;
  groups: CalibrationGroup[];
}
