import { sql } from 'kysely';
import type { Db } from './connect.ts';
import { insertEvaluation, type NewEvaluation, trialsOf } from './create-evaluation.ts';
import { type EvaluationRow, findJoinable } from './evaluations.ts';

/**
 * The unfinished evaluation of the same suite, data and agent; where there is none, `wanted` is stored. Of several
 * commands that ask at once, one stores and the others join.
 * @returns null when `wanted` was stored.
 */
export async function joinEvaluation(db: Db, wanted: NewEvaluation): Promise<EvaluationRow | null> {
  const { hashes, suite } = wanted;
  const plannedTrials = wanted.cases.reduce((sum, one) => sum + trialsOf(one, suite), 0);
  const same = JSON.stringify([suite.name, hashes.suite, hashes.data, hashes.agent, plannedTrials]);
  return db.transaction().execute(async (tx) => {
    await sql`select pg_advisory_xact_lock(hashtextextended(${same}, 0))`.execute(tx);
    const found = await findJoinable(tx, { suite: suite.name, hashes, plannedTrials });
    if (found === null) await insertEvaluation(tx, wanted);
    return found;
  });
}
