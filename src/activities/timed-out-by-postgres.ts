import type { FinalStatus } from '../core/trajectory.ts';
import { PostgresSlowError } from '../db/transient.ts';

/** Of a trial's time limit. Storing a call takes milliseconds; who waits for this much of it waits for an outage. */
const OUTAGE_SHARE = 0.1;

/**
 * A trial that used up its time while Postgres was away did not do so by itself: it is run again, as after any outage.
 * Its stored calls are replayed, so that the second time it waits for others only.
 * @param waitedMs how long the storing of its calls held it up, milliseconds
 * @returns the error to end the attempt with; null when the trial counts as it is.
 */
export function timedOutByPostgres(status: FinalStatus, waitedMs: number, limitMs: number): PostgresSlowError | null {
  return status === 'TIMEOUT' && waitedMs > limitMs * OUTAGE_SHARE ? new PostgresSlowError(waitedMs, limitMs) : null;
}
