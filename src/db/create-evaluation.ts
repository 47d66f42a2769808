import { sql } from 'kysely';
import type { EvalCase } from '../core/case.ts';
import type { Json } from '../core/json.ts';
import { judgeName, type Suite } from '../core/suite.ts';
import type { Db } from './connect.ts';
import { escapeText } from '../core/storable-text.ts';
import { toJsonb } from './escape.ts';

/** Everything an evaluation is made of, before it has a row. */
export interface NewEvaluation {
  id: string;
  suite: Suite;
  suitePath: string;
  suiteRoot: string;
  cases: EvalCase[];
  caseHashes: Map<string, string>;
  hashes: { suite: string; data: string; agent: string };
  judgeHash: string | null;
  agentVersion: string;
  offline: boolean;
  failFast: boolean;
  filters: Json;
  scheduleId: string | null;
  /** The evaluation whose trajectories are scored; null: the agent runs. */
  sourceId: string | null;
  /** False: verdicts are neither taken from the cache nor put there. */
  judgeCache: boolean;
}

export function agentModel(suite: Suite): string | null {
  return suite.agent.type === 'openai' ? suite.agent.model : null;
}

/** Trials planned for a case: its own number, else the suite's. */
export function trialsOf(evalCase: EvalCase, suite: Suite): number {
  return evalCase.trials ?? suite.trials;
}

/**
 * Stores an evaluation with a snapshot of its cases, in one transaction. The workflow is started only after this has
 * committed. Repeating it with the same id does nothing.
 * @returns false: there was an evaluation of this id already, of whatever suite.
 */
export async function createEvaluation(db: Db, input: NewEvaluation): Promise<boolean> {
  return db.transaction().execute((tx) => insertEvaluation(tx, input));
}

/** As {@link createEvaluation}, within a transaction. */
export async function insertEvaluation(tx: Db, input: NewEvaluation): Promise<boolean> {
  const planned = input.cases.reduce((sum, evalCase) => sum + trialsOf(evalCase, input.suite), 0);
  const inserted = await tx
    .insertInto('evaluation')
    .values({
      id: input.id,
      suite: escapeText(input.suite.name),
      kind: input.suite.kind,
      status: 'running',
      suite_hash: input.hashes.suite,
      data_hash: input.hashes.data,
      agent_hash: input.hashes.agent,
      judge_hash: input.judgeHash,
      agent_version: input.agentVersion,
      agent_model: agentModel(input.suite),
      judge_model: judgeName(input.suite.judge),
      definition: toJsonb(input.suite),
      suite_path: input.suitePath,
      suite_root: input.suiteRoot,
      offline: input.offline,
      labels: toJsonb(input.suite.labels),
      trials: input.suite.trials,
      concurrency: input.suite.concurrency,
      cases: input.cases.length,
      planned_trials: planned,
      budget_usd: input.suite.budget_usd ?? null,
      fail_fast: input.failFast,
      filters: toJsonb(input.filters),
      baseline_label: input.suite.regression.label,
      schedule_id: input.scheduleId,
      source_evaluation_id: input.sourceId,
      judge_cache: input.judgeCache,
    })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .returning('id')
    .execute();
  if (inserted.length === 0) return false;
  await insertCases(tx, input);
  return true;
}

/** Replaces the snapshot of an evaluation within a transaction; trials of cases whose content changed or went away are removed. */
export async function replaceCases(tx: Db, input: NewEvaluation): Promise<void> {
  const planned = input.cases.reduce((sum, evalCase) => sum + trialsOf(evalCase, input.suite), 0);
  const hashes = toJsonb(input.cases.map((c) => ({ case_id: c.id, content_hash: input.caseHashes.get(c.id) ?? '' })));
  await sql`
      delete from trial t using evaluation_case c
      where t.evaluation_id = ${input.id} and c.evaluation_id = t.evaluation_id and c.case_id = t.case_id
        and not exists (select 1 from jsonb_to_recordset(${hashes}::jsonb) as n(case_id text, content_hash text)
          where n.case_id = c.case_id and n.content_hash = c.content_hash)`.execute(tx);
  await tx.deleteFrom('case_result').where('evaluation_id', '=', input.id).execute();
  await tx.deleteFrom('evaluation_case').where('evaluation_id', '=', input.id).execute();
  await tx
    .updateTable('evaluation')
    .set({
      definition: toJsonb(input.suite),
      suite_hash: input.hashes.suite,
      data_hash: input.hashes.data,
      agent_hash: input.hashes.agent,
      judge_hash: input.judgeHash,
      agent_version: input.agentVersion,
      cases: input.cases.length,
      planned_trials: planned,
    })
    .where('id', '=', input.id)
    .execute();
  await insertCases(tx, input);
}

const CHUNK = 1_000;

async function insertCases(tx: Db, input: NewEvaluation): Promise<void> {
  let ordinal = 0;
  for (let start = 0; start < input.cases.length; start += CHUNK) {
    const rows = input.cases.slice(start, start + CHUNK).map((evalCase, offset) => {
      const row = {
        position: start + offset,
        case_id: evalCase.id,
        content_hash: input.caseHashes.get(evalCase.id) ?? '',
        content: evalCase,
        trials: trialsOf(evalCase, input.suite),
        first_ordinal: ordinal,
        category: evalCase.category ?? null,
        difficulty: evalCase.difficulty ?? null,
        dimension: evalCase.dimension ?? null,
        tags: evalCase.tags ?? [],
      };
      ordinal += row.trials;
      return row;
    });
    await sql`
      insert into evaluation_case (evaluation_id, position, case_id, content_hash, content, trials, first_ordinal, category, difficulty, dimension, tags)
      select ${input.id}, position, case_id, content_hash, content, trials, first_ordinal, category, difficulty, dimension,
        array(select jsonb_array_elements_text(tags))
      from jsonb_to_recordset(${toJsonb(rows)}::jsonb) as r(position integer, case_id text, content_hash text, content jsonb, trials integer,
        first_ordinal integer, category text, difficulty text, dimension text, tags jsonb)`.execute(tx);
  }
}
