import { sql } from 'kysely';
import { type JournalEntry, usageColumns } from './trial-rows.ts';

/** A recorded model call as a row of `model_call`, without its trial. */
export const callRow = (entry: JournalEntry): Record<string, unknown> => ({
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
});

const RECORD = `role text, path text, dimension text, vote integer, sequence integer, request_hash text, response jsonb, model text,
        input_tokens bigint, cached_tokens bigint, output_tokens bigint, reasoning_tokens bigint, total_tokens bigint,
        cost_usd numeric, latency_ms integer`;
export const CALL_RECORD = sql.raw(RECORD);

const COLUMNS = `role, path, dimension, vote, sequence, request_hash, response, model,
      input_tokens, cached_tokens, output_tokens, reasoning_tokens, total_tokens, cost_usd, latency_ms`;

const onConflict = `on conflict (evaluation_id, case_id, trial_index, role, path, dimension, vote, sequence, superseded) do update
      set request_hash = excluded.request_hash, response = excluded.response, model = excluded.model,
        input_tokens = excluded.input_tokens, cached_tokens = excluded.cached_tokens, output_tokens = excluded.output_tokens,
        reasoning_tokens = excluded.reasoning_tokens, total_tokens = excluded.total_tokens, cost_usd = excluded.cost_usd,
        latency_ms = excluded.latency_ms, called_at = now()`;

/** Inserts the calls of `held`, which has the columns of CALL_RECORD and the trial's key. */
export const INSERT_HELD_CALLS = sql.raw(`insert into model_call (evaluation_id, case_id, trial_index, ${COLUMNS})
    select evaluation_id, case_id, trial_index, ${COLUMNS} from held
    ${onConflict}`);

/** A step `called` that inserts the `calls` of those trials of `input` that `source` holds. */
export const callsOf = (source: 'held' | 'ended'): ReturnType<typeof sql.raw> =>
  sql.raw(`called as (
      insert into model_call (evaluation_id, case_id, trial_index, ${COLUMNS})
      select i.evaluation_id, i.case_id, i.trial_index, ${COLUMNS.split(/,\s*/)
        .map((column) => `c.${column}`)
        .join(', ')}
      from input i join ${source} using (evaluation_id, case_id, trial_index), jsonb_to_recordset(i.calls) as c(${RECORD})
      ${onConflict}
    )`);
