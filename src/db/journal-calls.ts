import { sql } from 'kysely';
import type { TrialKey } from '../core/trial.ts';
import { CALL_RECORD, callRow, INSERT_HELD_CALLS } from './call-rows.ts';
import type { Db } from './connect.ts';
import { toJsonb } from './escape.ts';
import { type JournalEntry, keyColumns, keyText, sorted } from './trial-rows.ts';

/**
 * Records model calls; false for those of a trial that another worker has claimed since. The trials are locked against
 * claims until the commit: otherwise a call could land after a new claim has read the journal. Trials are locked in the
 * order in which claims take them, so that neither waits for the other.
 */
export async function journalCalls(db: Db, entries: JournalEntry[]): Promise<boolean[]> {
  const input = sorted(entries, (entry) => entry.key).map((entry, position) => ({
    position,
    ...keyColumns(entry.key),
    fence: entry.fence,
    ...callRow(entry),
  }));
  const rows = await sql<TrialKey & { fence: number }>`
    with input as (
      select * from jsonb_to_recordset(${toJsonb(input)}::jsonb) as i(position integer, evaluation_id text, case_id text,
        trial_index integer, fence bigint, ${CALL_RECORD})
    ), held as (
      select i.* from input i join trial t using (evaluation_id, case_id, trial_index) where t.fence = i.fence
      order by i.position for share of t
    )
    ${INSERT_HELD_CALLS}
    returning evaluation_id, case_id, trial_index`.execute(db);
  const written = new Set(rows.rows.map(keyText));
  return entries.map((entry) => written.has(keyText(entry.key)));
}
