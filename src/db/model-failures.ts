import { sql } from 'kysely';
import type { TrialKey } from '../core/trial.ts';
import type { Db } from './connect.ts';
import { escapeText } from '../core/storable-text.ts';
import { whileTransient } from './transient.ts';

/** What a trial counts apart. */
export type FailureCounter = 'model_failures' | 'rate_limits' | 'deaths';

/** Counts a failure of a trial under way and lets go of it. Returns the new count; null when fenced off. */
export async function recordModelFailure(
  db: Db,
  key: TrialKey,
  fence: number,
  counter: FailureCounter,
): Promise<number | null> {
  const column = sql.ref(counter);
  const rows = await whileTransient(() =>
    sql<{ count: number }>`
      update trial set ${column} = ${column} + 1, running = false
      where evaluation_id = ${key.evaluation_id} and case_id = ${escapeText(key.case_id)} and trial_index = ${key.trial_index}
        and fence = ${fence} and status is null
      returning ${column} as count`.execute(db),
  );
  return rows.rows[0]?.count ?? null;
}

/** Why a trial is tried again. */
export interface TrialFailure {
  kind: string;
  message: string;
}

/**
 * Lets go of a trial that was interrupted (cancel, shutdown) or is tried again: its next claim is no death.
 * @param failure what it met, for those who wait for it; null leaves what is stored.
 */
export async function releaseTrial(
  db: Db,
  key: TrialKey,
  fence: number,
  failure: TrialFailure | null = null,
): Promise<void> {
  const met =
    failure === null
      ? sql``
      : sql`, last_failure_kind = ${failure.kind}, last_failure = ${escapeText(failure.message)}`;
  await whileTransient(() =>
    sql`update trial set running = false${met} where evaluation_id = ${key.evaluation_id} and case_id = ${escapeText(key.case_id)}
      and trial_index = ${key.trial_index} and fence = ${fence} and status is null`.execute(db),
  );
}
