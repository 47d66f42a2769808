import { sql } from 'kysely';
import type { EvalCase } from '../core/case.ts';
import type { Trajectory } from '../core/trajectory.ts';
import type { Db } from './connect.ts';
import { toJsonb } from './escape.ts';

/** A score the judge gave, without the trial it is of. */
export interface JudgeScore {
  case_id: string;
  trial_index: number;
  dimension: string;
  /** Null: the judge was asked and gave no verdict. */
  value: number | null;
  passed: boolean | null;
}

/** Every score of an evaluation that a judge was asked for. */
export async function loadJudgeScores(db: Db, evaluationId: string): Promise<JudgeScore[]> {
  const { rows } = await sql<JudgeScore>`
    select s.case_id, s.trial_index, s.scorer as dimension, s.value, s.passed from score s
    where s.evaluation_id = ${evaluationId} and exists (
      select from judge_verdict j where j.evaluation_id = s.evaluation_id and j.case_id = s.case_id
        and j.trial_index = s.trial_index and j.dimension = s.scorer)`.execute(db);
  return rows;
}

/** A trial as a person needs it to judge it. */
export interface ReviewSubject {
  evalCase: EvalCase;
  trajectory: Trajectory;
}

const PAGE = 50;

/** Case and trajectory of the trials named, in their order, page by page. Trials without a trajectory are left out. */
export async function* streamReviewSubjects<T extends { case_id: string; trial_index: number }>(
  db: Db,
  evaluationId: string,
  trials: readonly T[],
): AsyncGenerator<T & ReviewSubject> {
  for (let from = 0; from < trials.length; from += PAGE) {
    const page = trials.slice(from, from + PAGE);
    const keys = page.map(({ case_id, trial_index }, at) => ({ at, case_id, trial_index }));
    const { rows } = await sql<{ at: number; content: EvalCase; body: Trajectory }>`
      select k.at, c.content, t.body
      from jsonb_to_recordset(${toJsonb(keys)}::jsonb) as k(at integer, case_id text, trial_index integer)
      join evaluation_case c on c.evaluation_id = ${evaluationId} and c.case_id = k.case_id
      join trajectory t on t.evaluation_id = c.evaluation_id and t.case_id = k.case_id and t.trial_index = k.trial_index
      order by k.at`.execute(db);
    for (const { at, content, body } of rows) {
      const trial = page[at];
      if (trial !== undefined) yield { ...trial, evalCase: content, trajectory: body };
    }
  }
}
