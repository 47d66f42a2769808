import type { Db } from './connect.ts';

/** The value of one metric for several evaluations, by id; those without a result are left out. */
export async function loadMetricOf(
  db: Db,
  metric: string,
  ids: readonly string[],
): Promise<Map<string, number | null>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom('evaluation_metric')
    .select(['evaluation_id', 'value'])
    .where('metric', '=', metric)
    .where('evaluation_id', 'in', [...ids])
    .execute();
  return new Map(rows.map((row) => [row.evaluation_id, row.value]));
}

/** Ended trials of several evaluations, by id. */
export async function countEnded(db: Db, ids: readonly string[]): Promise<Map<string, number>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom('trial')
    .select((e) => ['evaluation_id', e.fn.countAll<number>().as('n')])
    .where('evaluation_id', 'in', [...ids])
    .where('status', 'is not', null)
    .groupBy('evaluation_id')
    .execute();
  return new Map(rows.map((row) => [row.evaluation_id, row.n]));
}
