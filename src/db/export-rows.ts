import { sql } from 'kysely';
import type { EvalCase } from '../core/case.ts';
import type { Trajectory } from '../core/trajectory.ts';
import type { Db } from './connect.ts';

const PAGE = 200;

/** The cases of an evaluation as it keeps them, in their order, page by page. */
export async function* streamCaseContents(db: Db, evaluationId: string): AsyncGenerator<EvalCase> {
  for (let after = -1; ;) {
    const rows = await db
      .selectFrom('evaluation_case')
      .select(['position', 'content'])
      .where('evaluation_id', '=', evaluationId)
      .where('position', '>', after)
      .orderBy('position')
      .limit(PAGE)
      .execute();
    for (const row of rows) yield row.content;
    const last = rows.at(-1);
    if (last === undefined) return;
    after = last.position;
  }
}

export interface StoredTrajectory {
  caseId: string;
  trial: number;
  trajectory: Trajectory;
}

/** The stored trajectories of an evaluation by position of the case and trial, page by page; errored trials have none. */
export async function* streamTrajectories(db: Db, evaluationId: string): AsyncGenerator<StoredTrajectory> {
  let position = -1;
  let trial = 0;
  for (;;) {
    const { rows } = await sql<{ position: number; trial_index: number; body: Trajectory; case_id: string }>`
      select c.position, x.trial_index, x.body, c.case_id
      from evaluation_case c join trajectory x using (evaluation_id, case_id)
      where c.evaluation_id = ${evaluationId} and (c.position, x.trial_index) > (${position}, ${trial})
      order by c.position, x.trial_index limit ${PAGE}`.execute(db);
    for (const row of rows) yield { caseId: row.case_id, trial: row.trial_index, trajectory: row.body };
    const last = rows.at(-1);
    if (last === undefined) return;
    position = last.position;
    trial = last.trial_index;
  }
}
