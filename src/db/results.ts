import { sql } from 'kysely';
import type {
  CaseResult,
  Comparison,
  EvaluationResult,
  GateResult,
  TrialRecord,
  TrialScore,
} from '../core/evaluation.ts';
import type { EvalCase } from '../core/case.ts';
import type { Db } from './connect.ts';
import { escapeText } from '../core/storable-text.ts';
import { toJsonb } from './escape.ts';

/** The cases of an evaluation in ascending id (code units), with the records of their trials: what reducers read. */
export interface CaseWithTrials {
  caseId: string;
  evalCase: EvalCase;
  contentHash: string;
  /** Planned. */
  trialCount: number;
  trials: TrialRecord[];
}

const PAGE = 500;

/** Characters of the reason of an ending that are read; what programs write to standard error may be long. */
const ENDING_LENGTH = 600;

/** Streams an evaluation case by case; memory stays flat however many trials there are. */
export function streamCases(db: Db, evaluationId: string): AsyncGenerator<CaseWithTrials[]> {
  return pages(
    (after) => loadPage(db, evaluationId, after),
    (one) => one.caseId,
  );
}

/** Pages in ascending order; the next is read while one is worked on. */
async function* pages<T>(load: (after: string | null) => Promise<T[]>, idOf: (row: T) => string): AsyncGenerator<T[]> {
  let next = load(null);
  for (;;) {
    const page = await next;
    const last = page.at(-1);
    if (last === undefined) return;
    next = page.length < PAGE ? Promise.resolve([]) : load(idOf(last));
    // Thrown where it is awaited, unless the reader has left by then.
    next.catch(() => undefined);
    yield page;
  }
}

interface TrialRow extends Omit<TrialRecord, 'scores'> {
  scores: TrialScore[] | null;
}

async function loadPage(db: Db, evaluationId: string, after: string | null): Promise<CaseWithTrials[]> {
  const cases = await sql<{ case_id: string; content: EvalCase; content_hash: string; trials: number }>`
    select case_id, content, content_hash, trials from evaluation_case
    where evaluation_id = ${evaluationId} ${after === null ? sql`` : sql`and case_id collate "C" > ${escapeText(after)} collate "C"`}
    order by case_id collate "C" limit ${PAGE}`.execute(db);
  if (cases.rows.length === 0) return [];
  const ids = cases.rows.map((row) => escapeText(row.case_id));
  const trials = await sql<TrialRow>`
    select t.case_id, t.trial_index, t.status, t.final_status, t.error_kind, t.error_message, t.iterations, t.tool_calls,
      t.total_tokens as tokens, t.judge_tokens, t.latency_ms, t.cost_usd, t.judge_cost_usd,
      case when t.status = 'failed' and t.final_status in ('FAILED', 'TIMEOUT') then
        (select t.final_status || coalesce(': ' || left(j.body ->> 'final_status_reason', ${ENDING_LENGTH}), '') from trajectory j
         where j.evaluation_id = t.evaluation_id and j.case_id = t.case_id and j.trial_index = t.trial_index
           and coalesce(btrim(j.body ->> 'answer'), '') = '') end as no_answer,
      (select jsonb_agg(jsonb_build_object('scorer', s.scorer, 'dimension', s.dimension, 'value', s.value, 'passed', s.passed,
         'deciding', s.deciding, 'violation', s.violation, 'reason', s.reason)
         || case when s.details ? 'rounds' then jsonb_build_object('rounds', s.details -> 'rounds') else '{}' end order by s.scorer collate "C")
       from score s where s.evaluation_id = t.evaluation_id and s.case_id = t.case_id and s.trial_index = t.trial_index) as scores
    from trial t where t.evaluation_id = ${evaluationId} and t.case_id = any(${ids}) and t.status is not null
    order by t.case_id collate "C", t.trial_index`.execute(db);
  const byCase = new Map<string, TrialRecord[]>();
  for (const row of trials.rows) {
    const list = byCase.get(row.case_id) ?? [];
    list.push({ ...row, scores: row.scores ?? [] });
    byCase.set(row.case_id, list);
  }
  return cases.rows.map((row) => ({
    caseId: row.case_id,
    evalCase: row.content,
    contentHash: row.content_hash,
    trialCount: row.trials,
    trials: (byCase.get(row.case_id) ?? []).map((trial) => asWanted(row.content, trial)),
  }));
}

/** A trial that ended as its case wants it did not break off. */
function asWanted({ expected }: EvalCase, trial: TrialRecord): TrialRecord {
  return trial.final_status === expected.final_status ? { ...trial, no_answer: null } : trial;
}

/** Writes the reduced cases; repeating it writes the same rows. */
export async function saveCaseResults(db: Db, evaluationId: string, results: CaseResult[]): Promise<void> {
  const rows = results.map((result) => ({
    case_id: result.case_id,
    content_hash: result.content_hash,
    category: result.category,
    difficulty: result.difficulty,
    dimension: result.dimension,
    tags: result.tags,
    outcome: result.outcome,
    passed_trials: result.passed_trials,
    failed_trials: result.failed_trials,
    unscored_trials: result.unscored_trials,
    errored_trials: result.errored_trials,
    missing_trials: result.missing_trials,
    layer: result.layer,
    completion_rate: result.metrics['completion_rate']?.mean ?? null,
    tool_score: result.metrics['tool_score']?.mean ?? null,
    stdev: result.metrics['completion_rate']?.stdev ?? null,
    tokens: result.tokens,
    cost_usd: result.cost_usd,
    body: result,
  }));
  await sql`
    insert into case_result (evaluation_id, case_id, content_hash, category, difficulty, dimension, tags, outcome, passed_trials, failed_trials,
      unscored_trials, errored_trials, missing_trials, layer, completion_rate, tool_score, stdev, tokens, cost_usd, body)
    select ${evaluationId}, case_id, content_hash, category, difficulty, dimension, array(select jsonb_array_elements_text(tags)), outcome,
      passed_trials, failed_trials, unscored_trials, errored_trials, missing_trials, layer, completion_rate, tool_score, stdev, tokens, cost_usd, body
    from jsonb_to_recordset(${toJsonb(rows)}::jsonb) as r(case_id text, content_hash text, category text, difficulty text, dimension text,
      tags jsonb, outcome text, passed_trials integer, failed_trials integer, unscored_trials integer, errored_trials integer,
      missing_trials integer, layer text, completion_rate double precision, tool_score double precision, stdev double precision,
      tokens bigint, cost_usd numeric, body jsonb)
    on conflict (evaluation_id, case_id) do update set content_hash = excluded.content_hash, outcome = excluded.outcome,
      passed_trials = excluded.passed_trials, failed_trials = excluded.failed_trials, unscored_trials = excluded.unscored_trials,
      errored_trials = excluded.errored_trials, missing_trials = excluded.missing_trials, layer = excluded.layer,
      completion_rate = excluded.completion_rate, tool_score = excluded.tool_score, stdev = excluded.stdev, tokens = excluded.tokens,
      cost_usd = excluded.cost_usd, body = excluded.body`.execute(db);
}

/** Writes the result of an evaluation with its metric rows, in one transaction. */
export async function saveEvaluationResult(db: Db, evaluationId: string, result: EvaluationResult): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await sql`
      insert into evaluation_result (evaluation_id, body) values (${evaluationId}, ${toJsonb(result)}::jsonb)
      on conflict (evaluation_id) do update set body = excluded.body, computed_at = now()`.execute(tx);
    await tx.deleteFrom('evaluation_metric').where('evaluation_id', '=', evaluationId).execute();
    if (result.metrics.length > 0) {
      await tx
        .insertInto('evaluation_metric')
        .values(result.metrics.map((metric) => ({ evaluation_id: evaluationId, ...metric })))
        .execute();
    }
  });
}

/** Writes the comparison with a baseline (null: there was none). The baseline itself is never touched. */
export async function saveComparison(db: Db, evaluationId: string, comparison: Comparison | null): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await sql`update evaluation_result set comparison = ${comparison === null ? null : toJsonb(comparison)}::jsonb
      where evaluation_id = ${evaluationId}`.execute(tx);
    await tx.deleteFrom('metric_delta').where('evaluation_id', '=', evaluationId).execute();
    if (comparison === null || comparison.deltas.length === 0) return;
    await tx
      .insertInto('metric_delta')
      .values(
        comparison.deltas.map((delta) => ({
          evaluation_id: evaluationId,
          baseline_evaluation_id: comparison.baseline_evaluation_id,
          metric: delta.metric,
          baseline_value: delta.baseline,
          value: delta.value,
          delta: delta.delta,
          kind: delta.kind,
          low: delta.low,
          high: delta.high,
          p: delta.p,
          smallest_detectable: delta.smallest_detectable,
          pairs: delta.pairs,
          verdict: delta.verdict,
        })),
      )
      .execute();
  });
}

/** Replaces the gate results of an evaluation. */
export async function saveGates(db: Db, evaluationId: string, gates: GateResult[]): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await tx.deleteFrom('gate_result').where('evaluation_id', '=', evaluationId).execute();
    if (gates.length === 0) return;
    await tx
      .insertInto('gate_result')
      .values(
        gates.map((gate, position) => ({
          evaluation_id: evaluationId,
          position,
          ...gate,
          gate: escapeText(gate.gate),
          reason: escapeText(gate.reason),
          case_ids: gate.case_ids.map(escapeText),
        })),
      )
      .execute();
  });
}

/** null before the first aggregation. */
export async function loadEvaluationResult(
  db: Db,
  evaluationId: string,
): Promise<{ result: EvaluationResult; comparison: Comparison | null } | null> {
  const row = await db
    .selectFrom('evaluation_result')
    .select(['body', 'comparison'])
    .where('evaluation_id', '=', evaluationId)
    .executeTakeFirst();
  return row === undefined ? null : { result: row.body, comparison: row.comparison };
}

/** Reduced cases in ascending id (code units), one after the other: memory stays flat. */
export async function* streamCaseResults(db: Db, evaluationId: string): AsyncGenerator<CaseResult> {
  const results = pages(
    (after) => loadResultPage(db, evaluationId, after),
    (row) => row.body.case_id,
  );
  for await (const page of results) for (const row of page) yield row.body;
}

async function loadResultPage(db: Db, evaluationId: string, after: string | null): Promise<{ body: CaseResult }[]> {
  const rows = await sql<{ body: CaseResult }>`
    select body from case_result
    where evaluation_id = ${evaluationId} ${after === null ? sql`` : sql`and case_id collate "C" > ${escapeText(after)} collate "C"`}
    order by case_id collate "C" limit ${PAGE}`.execute(db);
  return rows.rows;
}

/** Reduced cases in ascending id; `onlyBad` leaves out those that passed without a violation. */
export async function loadCaseResults(
  db: Db,
  evaluationId: string,
  options: { onlyBad?: boolean; limit?: number } = {},
): Promise<CaseResult[]> {
  let query = db
    .selectFrom('case_result')
    .select('body')
    .where('evaluation_id', '=', evaluationId)
    .orderBy(sql`case_id collate "C"`);
  if (options.onlyBad === true)
    query = query.where(sql<boolean>`(outcome <> 'passed' or (body ->> 'violations')::integer > 0)`);
  if (options.limit !== undefined) query = query.limit(options.limit);
  return (await query.execute()).map((row) => row.body);
}

export async function loadGates(db: Db, evaluationId: string): Promise<GateResult[]> {
  const rows = await db
    .selectFrom('gate_result')
    .selectAll()
    .where('evaluation_id', '=', evaluationId)
    .orderBy('position')
    .execute();
  return rows.map(({ evaluation_id: _id, position: _position, verdict, ...gate }) => ({
    ...gate,
    verdict: verdict as GateResult['verdict'],
  }));
}
