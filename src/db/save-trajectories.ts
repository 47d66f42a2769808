import { sql } from 'kysely';
import type { TrialKey } from '../core/trial.ts';
import { callRow, callsOf } from './call-rows.ts';
import type { Db } from './connect.ts';
import { toJsonb } from './escape.ts';
import {
  keyColumns,
  keyText,
  sorted,
  type StoredTrajectory,
  TRAJECTORY_ASSIGNMENTS,
  TRAJECTORY_RECORD,
  trajectoryColumns,
} from './trial-rows.ts';

/** Stores the agent's part of trials that still need their judge. */
export async function saveTrajectories(db: Db, items: StoredTrajectory[]): Promise<boolean[]> {
  const ordered = sorted(items, (item) => item.key);
  const input = ordered.map((item) => ({
    ...keyColumns(item.key),
    fence: item.fence,
    cost_usd: item.cost_usd,
    trajectory: item.trajectory,
    calls: (item.calls ?? []).map(callRow),
    goes_on: item.goesOn === true,
    ...trajectoryColumns(item.trajectory),
  }));
  const rows = await sql<TrialKey>`
    with input as (
      select * from jsonb_to_recordset(${toJsonb(input)}::jsonb) as i(${TRAJECTORY_RECORD}, calls jsonb, goes_on boolean)
    ), held as (
      update trial t set ${TRAJECTORY_ASSIGNMENTS}, trajectory_fence = i.fence, running = i.goes_on,
        claims = i.goes_on::integer
      from input i
      where t.evaluation_id = i.evaluation_id and t.case_id = i.case_id and t.trial_index = i.trial_index and t.fence = i.fence
      returning t.evaluation_id, t.case_id, t.trial_index, t.fence
    ), stored as (
      insert into trajectory (evaluation_id, case_id, trial_index, fence, body)
      select i.evaluation_id, i.case_id, i.trial_index, i.fence, i.trajectory
      from input i join held using (evaluation_id, case_id, trial_index)
      on conflict (evaluation_id, case_id, trial_index) do update set fence = excluded.fence, body = excluded.body
    ), ${callsOf('held')}
    select evaluation_id, case_id, trial_index from held`.execute(db);
  const written = new Set(rows.rows.map(keyText));
  return items.map((item) => written.has(keyText(item.key)));
}
