import { sql } from 'kysely';
import type { Db } from './connect.ts';

/** Calls of one tool that no mock answered, over an evaluation. */
export interface UnmatchedCalls {
  tool: string;
  calls: number;
  /** How many cases made one. */
  cases: number;
  /** The first few of them, by id. */
  case_ids: string[];
}

/** Tools listed, and cases named of each. */
const TOOLS = 5;
const CASES = 3;

/** What the mock world had no answer for, from the scores that say so; most calls first. */
export async function loadUnmatchedCalls(db: Db, evaluationId: string): Promise<UnmatchedCalls[]> {
  const { rows } = await sql<UnmatchedCalls>`
    select one->>'tool' as tool, sum((one->>'calls')::integer) as calls, count(distinct s.case_id) as cases,
      (array_agg(distinct s.case_id order by s.case_id))[1:${sql.lit(CASES)}] as case_ids
    from score s cross join lateral jsonb_array_elements(s.details->'tools') as one
    where s.evaluation_id = ${evaluationId} and s.scorer = 'mock_coverage'
    group by 1 order by 2 desc, 1 limit ${TOOLS}`.execute(db);
  return rows;
}
