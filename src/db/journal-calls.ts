import { sql } from 'kysely';
import type { TrialKey } from '../core/trial.ts';
import type { Db } from './connect.ts';
import { toJsonb } from './escape.ts';
import { type JournalEntry, keyColumns, keyText, sorted, usageColumns } from './trial-rows.ts';

/**
 * Records model calls; false for those of a trial that another worker has claimed since. The trials are locked against
 * claims until the commit: otherwise a call could land after a new claim has read the journal. Trials are locked in the
 * order in which claims take them, so that neither waits for the other.
 */
export async function journalCalls(db: Db, entries: JournalEntry[]): Promise<boolean[]> {
  const input = sorted(entries, (entry) => entry.key).map((entry, position) => ({
    position,
    ...keyColumns(entry.key),
    fence: entry.fence,
    role: entry.role,
    path: entry.path,
    dimension: entry.dimension,
    vote: entry.vote,
    sequence: entry.sequence,
    request_hash: entry.request_hash,
    response: entry.response,
    model: entry.response.model,
    ...usageColumns(entry.response.usage),
    cost_usd: entry.cost_usd,
    latency_ms: Math.round(entry.latency_ms),
  }));
  const rows = await sql<TrialKey & { fence: number }>`
    with input as (
      select * from jsonb_to_recordset(${toJsonb(input)}::jsonb) as i(position integer, evaluation_id text, case_id text,
        trial_index integer, fence bigint, role text, path text, dimension text, vote integer, sequence integer, request_hash text, response jsonb, model text,
        input_tokens bigint, cached_tokens bigint, output_tokens bigint, reasoning_tokens bigint, total_tokens bigint,
        cost_usd numeric, latency_ms integer)
    ), held as (
      select i.* from input i join trial t using (evaluation_id, case_id, trial_index) where t.fence = i.fence
      order by i.position for share of t
    )
    insert into model_call (evaluation_id, case_id, trial_index, role, path, dimension, vote, sequence, request_hash, response, model,
      input_tokens, cached_tokens, output_tokens, reasoning_tokens, total_tokens, cost_usd, latency_ms)
    select evaluation_id, case_id, trial_index, role, path, dimension, vote, sequence, request_hash, response, model,
      input_tokens, cached_tokens, output_tokens, reasoning_tokens, total_tokens, cost_usd, latency_ms from held
    on conflict (evaluation_id, case_id, trial_index, role, path, dimension, vote, sequence, superseded) do update
      set request_hash = excluded.request_hash, response = excluded.response, model = excluded.model,
        input_tokens = excluded.input_tokens, cached_tokens = excluded.cached_tokens, output_tokens = excluded.output_tokens,
        reasoning_tokens = excluded.reasoning_tokens, total_tokens = excluded.total_tokens, cost_usd = excluded.cost_usd,
        latency_ms = excluded.latency_ms, called_at = now()
    returning evaluation_id, case_id, trial_index`.execute(db);
  const written = new Set(rows.rows.map(keyText));
  return entries.map((entry) => written.has(keyText(entry.key)));
}
