import { atLeast } from './score.ts';

/** Share of the planned applicable trials that must be scored before a gate may decide. */
export const MIN_COVERAGE = 0.98;

/** True when enough of the planned trials are scored. */
export function covers(trials: number, applicable: number): boolean {
  return atLeast(trials, MIN_COVERAGE * applicable);
}

/** `37 of 40 trials scored, under 98 %`. */
export function uncoveredReason(trials: number, applicable: number): string {
  return `${trials} of ${applicable} trials scored, under ${MIN_COVERAGE * 100} %`;
}
