import { sql } from 'kysely';
import type { Json } from '../core/json.ts';
import { escapeText } from '../core/storable-text.ts';
import { createBatcher } from './batch.ts';
import type { Db } from './connect.ts';
import { toJsonb } from './escape.ts';
import { isTransient, whileTransient } from './transient.ts';

interface CachedRow {
  key: string;
  raw_reply: string;
  model: string | null;
  params: Json;
  evaluation_id: string;
}

interface KeptRow {
  key: string;
  dimension: string;
  prompt_hash: string;
  model: string | null;
  params: Json;
  raw_reply: string;
}

export type ReadVerdicts = (keys: readonly string[]) => Promise<ReadonlyMap<string, CachedRow>>;

/**
 * Looks up verdicts of earlier evaluations by key; what is not there is left out. Trials that ask at the same time share
 * one query. Verdicts are stored with the end of their trial (finish-trials.ts).
 */
export function createVerdictReader(db: Db): ReadVerdicts {
  const batcher = createBatcher<readonly string[], ReadonlyMap<string, CachedRow>>({
    keyOf: (keys) => keys.join(' '),
    parallel: 2,
    isOutage: isTransient,
    flush: (items) => whileTransient(() => loadVerdicts(db, items)),
  });
  return (keys) => batcher.submit(keys);
}

async function loadVerdicts(db: Db, items: (readonly string[])[]): Promise<ReadonlyMap<string, CachedRow>[]> {
  const rows = await sql<CachedRow>`
    select c.key, c.raw_reply, c.model, c.params, c.evaluation_id from verdict_cache c
    where c.key = any(${items.flat()}::text[])`.execute(db);
  const byKey = new Map(rows.rows.map((row) => [row.key, row]));
  return items.map(
    (keys) =>
      new Map(
        keys.flatMap((key) => {
          const row = byKey.get(key);
          return row === undefined ? [] : [[key, row] as const];
        }),
      ),
  );
}

/** Keeps a verdict that belongs to no trial, such as one of a pairwise comparison. One that is there already stays. */
export async function keepVerdict(db: Db, evaluationId: string, entry: KeptRow): Promise<void> {
  await whileTransient(() =>
    db
      .insertInto('verdict_cache')
      .values({
        ...entry,
        evaluation_id: evaluationId,
        model: entry.model === null ? null : escapeText(entry.model),
        params: toJsonb(entry.params),
        raw_reply: escapeText(entry.raw_reply),
      })
      .onConflict((conflict) => conflict.column('key').doNothing())
      .execute(),
  );
}
