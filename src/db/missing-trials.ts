import { sql } from 'kysely';
import type { Db } from './connect.ts';

/** A trial to run: position of its case and 1-based repetition. Small enough for a workflow history. */
export type MissingTrial = [position: number, trialIndex: number];

/** Trials without an end in a range of ordinals, in order. Ordinals number all planned trials of an evaluation from 0. */
export async function loadMissingTrials(
  db: Db,
  range: { evaluationId: string; from: number; to: number },
): Promise<MissingTrial[]> {
  const rows = await sql<{ position: number; trial_index: number }>`
    select c.position, k.n as trial_index
    from evaluation_case c cross join lateral generate_series(1, c.trials) as k(n)
    where c.evaluation_id = ${range.evaluationId}
      and c.first_ordinal < ${range.to} and c.first_ordinal + c.trials > ${range.from}
      and c.first_ordinal + k.n - 1 >= ${range.from} and c.first_ordinal + k.n - 1 < ${range.to}
      and not exists (select 1 from trial t where t.evaluation_id = c.evaluation_id and t.case_id = c.case_id
        and t.trial_index = k.n and t.status is not null)
    order by c.first_ordinal, k.n`.execute(db);
  return rows.rows.map((row) => [row.position, row.trial_index]);
}

/** Numbers of the shards that still have work. */
export async function loadMissingShards(db: Db, evaluationId: string, shardSize: number): Promise<number[]> {
  const rows = await sql<{ shard: number }>`
    select distinct (c.first_ordinal + k.n - 1) / ${shardSize}::integer as shard
    from evaluation_case c cross join lateral generate_series(1, c.trials) as k(n)
    where c.evaluation_id = ${evaluationId}
      and not exists (select 1 from trial t where t.evaluation_id = c.evaluation_id and t.case_id = c.case_id
        and t.trial_index = k.n and t.status is not null)
    order by shard`.execute(db);
  return rows.rows.map((row) => row.shard);
}

/** The longest time a case of the evaluation asks for, milliseconds; null when none names its own. */
export async function loadLongestTimeout(db: Db, evaluationId: string): Promise<number | null> {
  const result = await sql<{ longest: number | null }>`
    select max((content ->> 'timeout_ms')::numeric) as longest from evaluation_case
    where evaluation_id = ${evaluationId}`.execute(db);
  return result.rows[0]?.longest ?? null;
}

export interface Progress {
  planned: number;
  passed: number;
  failed: number;
  unscored: number;
  errored: number;
  running: number;
  /** Trials that ended in the last 30 s: what the ETA is computed from. */
  recent: number;
}

/** Counts of an evaluation's trials, from Postgres: needs no worker. */
export async function loadProgress(db: Db, evaluationId: string): Promise<Progress> {
  const result = await sql<Progress>`
    select e.planned_trials as planned,
      count(*) filter (where t.status = 'passed') as passed, count(*) filter (where t.status = 'failed') as failed,
      count(*) filter (where t.status = 'unscored') as unscored, count(*) filter (where t.status = 'errored') as errored,
      count(*) filter (where t.status is null and t.running) as running,
      count(*) filter (where t.finished_at > now() - interval '30 seconds') as recent
    from evaluation e left join trial t on t.evaluation_id = e.id
    where e.id = ${evaluationId} group by e.id`.execute(db);
  return result.rows[0] ?? { planned: 0, passed: 0, failed: 0, unscored: 0, errored: 0, running: 0, recent: 0 };
}
