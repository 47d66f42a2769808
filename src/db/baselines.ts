import type { Selectable } from 'kysely';
import type { Db } from './connect.ts';
import { escapeText } from '../core/storable-text.ts';
import type { BaselineTable } from './schema.ts';

export type BaselineRow = Selectable<BaselineTable>;

/** Pins an evaluation as the baseline of its suite under a label. Only this moves a baseline. */
export async function setBaseline(
  db: Db,
  baseline: { suite: string; label: string; evaluationId: string; note: string | null },
): Promise<void> {
  const row = {
    suite: escapeText(baseline.suite),
    label: baseline.label,
    evaluation_id: baseline.evaluationId,
    note: baseline.note,
    set_at: new Date(),
  };
  await db
    .insertInto('baseline')
    .values(row)
    .onConflict((conflict) => conflict.columns(['suite', 'label']).doUpdateSet(row))
    .execute();
}

export async function findBaseline(db: Db, suite: string, label: string): Promise<BaselineRow | null> {
  const row = await db
    .selectFrom('baseline')
    .selectAll()
    .where('suite', '=', escapeText(suite))
    .where('label', '=', label)
    .executeTakeFirst();
  return row ?? null;
}

export async function listBaselines(db: Db, suite?: string): Promise<BaselineRow[]> {
  let query = db.selectFrom('baseline').selectAll().orderBy('suite').orderBy('label');
  if (suite !== undefined) query = query.where('suite', '=', escapeText(suite));
  return query.execute();
}

/** Labels under which an evaluation is pinned. */
export async function baselinesOf(db: Db, evaluationId: string): Promise<BaselineRow[]> {
  return db.selectFrom('baseline').selectAll().where('evaluation_id', '=', evaluationId).execute();
}
