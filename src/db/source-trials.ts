import { sql } from 'kysely';
import { escapeText } from '../core/storable-text.ts';
import type { Trajectory } from '../core/trajectory.ts';
import type { TrialKey } from '../core/trial.ts';
import { createBatcher } from './batch.ts';
import type { Db } from './connect.ts';
import { isTransient, whileTransient } from './transient.ts';
import { keyText } from './trial-rows.ts';

/** A trial of another evaluation, as far as scoring its trajectory again needs it. */
interface SourceTrial {
  /** null: the agent gave nothing to score. */
  trajectory: Trajectory | null;
  /** What the agent cost then. */
  cost_usd: number | null;
  error_kind: string | null;
  error_message: string | null;
}

export type ReadSourceTrial = (key: TrialKey) => Promise<SourceTrial | null>;

/** Reads trials to be scored again, several in one query; null where there is no such trial (any more). */
export function createSourceReader(db: Db): ReadSourceTrial {
  const batcher = createBatcher<TrialKey, SourceTrial | null>({
    keyOf: keyText,
    // Trajectories are large.
    maxItems: 50,
    parallel: 2,
    isOutage: isTransient,
    flush: (keys) => whileTransient(() => loadSourceTrials(db, keys)),
  });
  return (key) => batcher.submit(key);
}

async function loadSourceTrials(db: Db, keys: TrialKey[]): Promise<(SourceTrial | null)[]> {
  const rows = await sql<SourceTrial & TrialKey>`
    select t.evaluation_id, t.case_id, t.trial_index, t.cost_usd, t.error_kind, t.error_message, j.body as trajectory
    from unnest(${keys.map((key) => key.evaluation_id)}::text[], ${keys.map((key) => escapeText(key.case_id))}::text[],
      ${keys.map((key) => key.trial_index)}::integer[]) as w(evaluation_id, case_id, trial_index)
    join trial t using (evaluation_id, case_id, trial_index)
    left join trajectory j using (evaluation_id, case_id, trial_index)`.execute(db);
  const byKey = new Map(rows.rows.map((row) => [keyText(row), row]));
  return keys.map((key) => byKey.get(keyText(key)) ?? null);
}
