import type { Progress } from '../../db/missing-trials.ts';

/** Seconds in which {@link Progress.recent} trials ended. */
const RECENT_S = 30;

/** Trials that have ended. */
export function endedTrials(progress: Progress): number {
  return progress.passed + progress.failed + progress.unscored + progress.errored;
}

/**
 * Seconds until the last trial at the pace of the last 30 s.
 * @param ageSeconds since the start; a younger evaluation is measured over its own age.
 * @returns null while nothing has ended lately.
 */
export function secondsLeft(progress: Progress, ageSeconds: number): number | null {
  const left = progress.planned - endedTrials(progress);
  if (left <= 0) return 0;
  if (progress.recent === 0) return null;
  return (left * Math.min(RECENT_S, Math.max(1, ageSeconds))) / progress.recent;
}
