import { sql } from 'kysely';
import type { TrialKey } from '../core/trial.ts';
import type { Db } from './connect.ts';
import { toJsonb } from './escape.ts';
import { type Claim, keyColumns, keyText, sorted } from './trial-rows.ts';

/** Claims trials for a worker: a new fence each, null for those that have ended. */
export async function claimTrials(db: Db, worker: string, keys: TrialKey[]): Promise<(Claim | null)[]> {
  const ordered = sorted(keys, (key) => key);
  const rows = await sql<Claim & TrialKey>`
    insert into trial as t (evaluation_id, case_id, trial_index, fence, worker)
    select k.evaluation_id, k.case_id, k.trial_index, nextval('trial_fence'), ${worker}
    from jsonb_to_recordset(${toJsonb(ordered.map(keyColumns))}::jsonb) as k(evaluation_id text, case_id text, trial_index integer)
    on conflict (evaluation_id, case_id, trial_index) do update
      set fence = excluded.fence,
        deaths = t.deaths + case
          -- Between its two steps a trial may change workers without anybody having died.
          when t.running and t.worker <> excluded.worker and t.fence is distinct from t.trajectory_fence then 1 else 0 end,
        worker = excluded.worker, running = true, claims = t.claims + 1, started_at = now()
      where t.status is null
    returning t.evaluation_id, t.case_id, t.trial_index, t.fence, t.trajectory_fence, t.deaths, t.model_failures, t.rate_limits, t.cost_usd,
      t.claims = 1 as first`.execute(db);
  const byKey = new Map(rows.rows.map((row) => [keyText(row), row]));
  return keys.map((key) => byKey.get(keyText(key)) ?? null);
}
