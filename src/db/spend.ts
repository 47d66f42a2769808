import { sql } from 'kysely';
import type { Db } from './connect.ts';

/** What is known of the money an evaluation has spent, so that the next look reads only what came since. */
export interface Spend {
  /** Agent and judge, US dollars; calls without a price count as 0. */
  total: number;
  /** Money of calls recorded before `settledUntil`. */
  settled: number;
  /** null: nothing is settled yet. */
  settledUntil: Date | null;
}

/**
 * Money spent so far. Calls recorded in the last two minutes are read again each time, since a recording that started
 * earlier may be committed later; older ones are read once. When the clock of Postgres went back everything is read.
 * A call that was recorded anew (its request had changed) within an evaluation's run counts each time: each was paid for.
 * @param known what the last look gave
 */
export async function loadSpend(db: Db, evaluationId: string, known: Spend | null = null): Promise<Spend> {
  const since = known?.settledUntil ?? null;
  const result = await sql<{ total: number; settled: number; until: Date }>`
    with cut as (select date_trunc('milliseconds', now()) - interval '2 minutes' as until)
    select coalesce(sum(c.cost_usd), 0) as total, coalesce(sum(c.cost_usd) filter (where c.called_at < cut.until), 0) as settled,
      cut.until
    from cut left join model_call c on c.evaluation_id = ${evaluationId} and c.cost_usd is not null
      and c.called_at >= ${since === null ? sql`'-infinity'::timestamptz` : sql`${since}::timestamptz`}
    group by cut.until`.execute(db);
  const [row] = result.rows;
  if (row === undefined) throw new Error('the sum of model calls has no row');
  if (known !== null && since !== null && row.until < since) return loadSpend(db, evaluationId);
  const before = since === null ? 0 : (known?.settled ?? 0);
  return { total: before + row.total, settled: before + row.settled, settledUntil: row.until };
}
