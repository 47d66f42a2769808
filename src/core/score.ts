import type { JsonObject } from './json.ts';

/**
 * What one scorer says of one trial.
 * `value` is in [0,1]; `null` = not scored (the judge failed, or the field does not apply). Null is never 0 and never a pass.
 */
export interface Score {
  scorer: string;
  dimension: string | null;
  value: number | null;
  passed: boolean | null;
  /** A sentence a reader can act on: what was wanted, what was got, where. */
  reason: string;
  details: JsonObject | null;
  /** True when this score decides whether the trial passes; see docs/scoring.md, "When a trial passes". */
  deciding: boolean;
  /** True for a breach that fails trial, case and gate whatever else is configured. */
  violation: boolean;
}

/** Comparisons with thresholds allow this much rounding, so that 0.90 - 0.85 is not "more than 0.05". */
export const TOLERANCE = 1e-9;

export function atLeast(value: number, threshold: number): boolean {
  return value >= threshold - TOLERANCE;
}

export function exceeds(value: number, threshold: number): boolean {
  return value > threshold + TOLERANCE;
}
