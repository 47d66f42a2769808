import { sql } from 'kysely';
import type { EvalCase } from '../core/case.ts';
import { escapeText } from '../core/storable-text.ts';
import type { Db } from './connect.ts';

/** The answers two evaluations gave in the same trial of a case whose content is the same in both. */
export interface PairedAnswers {
  evalCase: EvalCase;
  trialIndex: number;
  /** Null: that trajectory ended without an answer. */
  a: string | null;
  b: string | null;
}

const PAGE = 200;

/** Pairs by ascending case id and trial, page by page; trials without a trajectory in either evaluation are left out. */
export async function* streamPairedAnswers(
  db: Db,
  a: string,
  b: string,
  limit: number | null,
): AsyncGenerator<PairedAnswers[]> {
  let after: string | null = null;
  let left = limit ?? Number.POSITIVE_INFINITY;
  while (left > 0) {
    const ids: string[] = await sharedCases(db, { a, b, after, limit: Math.min(PAGE, left) });
    const last = ids.at(-1);
    if (last === undefined) return;
    yield await answersOf(db, a, b, ids);
    after = last;
    left -= ids.length;
  }
}

/** Cases that both evaluations have with equal content. */
async function sharedCases(
  db: Db,
  range: { a: string; b: string; after: string | null; limit: number },
): Promise<string[]> {
  const beyond = range.after === null ? sql`` : sql`and x.case_id collate "C" > ${escapeText(range.after)} collate "C"`;
  const rows = await sql<{ case_id: string }>`
    select x.case_id from evaluation_case x join evaluation_case y using (case_id)
    where x.evaluation_id = ${range.a} and y.evaluation_id = ${range.b} and x.content_hash = y.content_hash ${beyond}
    order by x.case_id collate "C" limit ${range.limit}`.execute(db);
  return rows.rows.map((row) => row.case_id);
}

async function answersOf(db: Db, a: string, b: string, ids: string[]): Promise<PairedAnswers[]> {
  const rows = await sql<{ content: EvalCase; trial_index: number; a: string | null; b: string | null }>`
    select c.content, x.trial_index, x.body -> 'answer' #>> '{}' as a, y.body -> 'answer' #>> '{}' as b
    from trajectory x
    join trajectory y on y.evaluation_id = ${b} and y.case_id = x.case_id and y.trial_index = x.trial_index
    join evaluation_case c on c.evaluation_id = ${b} and c.case_id = x.case_id
    where x.evaluation_id = ${a} and x.case_id = any(${ids.map(escapeText)}::text[])
    order by x.case_id collate "C", x.trial_index`.execute(db);
  return rows.rows.map((row) => ({ evalCase: row.content, trialIndex: row.trial_index, a: row.a, b: row.b }));
}
