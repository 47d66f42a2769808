import { sql } from 'kysely';
import type { Db } from './connect.ts';

/** Trials that have not ended because what they met is tried again. */
export interface FailingTrials {
  /** The kind of their last failure, as `error_kind` of a trial. */
  kind: string;
  trials: number;
  /** What one of those that were taken up last met. */
  message: string;
}

/** Trials without an end whose last try failed, by kind of failure, most frequent first. */
export async function loadFailingTrials(db: Db, evaluationId: string): Promise<FailingTrials[]> {
  const result = await sql<FailingTrials>`
    select last_failure_kind as kind, count(*) as trials, (array_agg(last_failure order by started_at desc))[1] as message
    from trial where evaluation_id = ${evaluationId} and status is null and last_failure_kind is not null
    group by last_failure_kind order by trials desc, kind`.execute(db);
  return result.rows;
}
