import { sql } from 'kysely';
import { createBatcher } from './batch.ts';
import type { Db } from './connect.ts';
import { isTransient, whileTransient } from './transient.ts';

interface CachedRow {
  key: string;
  raw_reply: string;
  model: string | null;
  evaluation_id: string;
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
    select c.key, c.raw_reply, c.model, c.evaluation_id from verdict_cache c
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
