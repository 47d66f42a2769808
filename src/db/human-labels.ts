import { sql } from 'kysely';
import type { Db } from './connect.ts';
import { toJsonb } from './escape.ts';

/** One label of a person, as it is stored. */
export interface HumanLabel {
  case_id: string;
  trial_index: number;
  dimension: string;
  reviewer: string;
  label: string;
}

/** A label beside the score it is to be compared with. */
export interface LabelledScore extends HumanLabel {
  /** Of the judge's score; null: it gave no verdict. */
  value: number | null;
  passed: boolean | null;
  /** Of the prompt the judge was asked with; null: it was not asked. */
  prompt_hash: string | null;
}

/**
 * Stores labels of one evaluation, all or none; a label of the same reviewer on the same trial and dimension is replaced.
 * @returns indexes of labels whose trial has no trajectory: then nothing is stored
 */
export async function saveHumanLabels(db: Db, evaluationId: string, labels: readonly HumanLabel[]): Promise<number[]> {
  const input = labels.map((label, at) => ({ at, ...label }));
  return db.transaction().execute(async (tx) => {
    const rows = sql`jsonb_to_recordset(${toJsonb(input)}::jsonb)
      as i(at integer, case_id text, trial_index integer, dimension text, reviewer text, label text)`;
    const unknown = await sql<{ at: number }>`
      select i.at from ${rows} where not exists (
        select from trajectory t
        where t.evaluation_id = ${evaluationId} and t.case_id = i.case_id and t.trial_index = i.trial_index)
      order by i.at`.execute(tx);
    if (unknown.rows.length > 0) return unknown.rows.map(({ at }) => at);
    await sql`
      insert into human_label (evaluation_id, case_id, trial_index, dimension, reviewer, label)
      select ${evaluationId}, i.case_id, i.trial_index, i.dimension, i.reviewer, i.label from ${rows}
      on conflict (evaluation_id, case_id, trial_index, dimension, reviewer)
      do update set label = excluded.label, labelled_at = now()`.execute(tx);
    return [];
  });
}

/** Every label of an evaluation with the judge's score of that trial and dimension, by case, trial, dimension, reviewer. */
export async function loadLabelledScores(db: Db, evaluationId: string): Promise<LabelledScore[]> {
  const { rows } = await sql<LabelledScore>`
    select l.case_id, l.trial_index, l.dimension, l.reviewer, l.label, v.prompt_hash,
      case when v.prompt_hash is not null then s.value end as value,
      case when v.prompt_hash is not null then s.passed end as passed
    from human_label l
    left join score s on s.evaluation_id = l.evaluation_id and s.case_id = l.case_id and s.trial_index = l.trial_index
      and s.scorer = l.dimension
    left join lateral (
      select j.prompt_hash from judge_verdict j
      where j.evaluation_id = l.evaluation_id and j.case_id = l.case_id and j.trial_index = l.trial_index
        and j.dimension = l.dimension
      order by j.round, j.vote limit 1
    ) v on true
    where l.evaluation_id = ${evaluationId}
    order by l.case_id collate "C", l.trial_index, l.dimension, l.reviewer collate "C"`.execute(db);
  return rows;
}
