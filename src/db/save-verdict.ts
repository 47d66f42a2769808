import type { Verdict } from '../core/evaluation.ts';
import type { Db } from './connect.ts';
import { escapeText } from '../core/storable-text.ts';

/** Replaces the verdict of an ended evaluation; status and times stay. */
export async function saveVerdict(db: Db, id: string, verdict: Verdict): Promise<void> {
  await db
    .updateTable('evaluation')
    .set({ exit_code: verdict.exit_code, verdict: escapeText(verdict.summary) })
    .where('id', '=', id)
    .execute();
}
