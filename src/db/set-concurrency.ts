import type { Db } from './connect.ts';

/** Changes how many trials of an evaluation are in flight; a running workflow is told by signal. */
export async function setConcurrency(db: Db, id: string, concurrency: number): Promise<void> {
  await db.updateTable('evaluation').set({ concurrency }).where('id', '=', id).execute();
}
