import { sql, type Selectable } from 'kysely';
import type { CaseResult } from '../core/evaluation.ts';
import type { Trajectory } from '../core/trajectory.ts';
import type { Db } from './connect.ts';
import { escapeText } from '../core/storable-text.ts';
import type { JudgeVerdictTable, ModelCallTable, ScoreTable, TrialTable } from './schema.ts';

export type TrialRow = Selectable<TrialTable>;
export type ScoreRow = Selectable<ScoreTable>;
type StoredVerdict = Selectable<JudgeVerdictTable>;
type ModelCallRow = Omit<Selectable<ModelCallTable>, 'response'>;

/** The trials of a case that have been started, by number. */
export async function loadTrialsOfCase(db: Db, evaluationId: string, caseId: string): Promise<TrialRow[]> {
  return db
    .selectFrom('trial')
    .selectAll()
    .where('evaluation_id', '=', evaluationId)
    .where('case_id', '=', escapeText(caseId))
    .orderBy('trial_index')
    .execute();
}

/** Scores of all trials of a case, by trial and scorer. */
export async function loadScoresOfCase(db: Db, evaluationId: string, caseId: string): Promise<ScoreRow[]> {
  return db
    .selectFrom('score')
    .selectAll()
    .where('evaluation_id', '=', evaluationId)
    .where('case_id', '=', escapeText(caseId))
    .orderBy('trial_index')
    .orderBy(sql`scorer collate "C"`)
    .execute();
}

export async function loadCaseResult(db: Db, evaluationId: string, caseId: string): Promise<CaseResult | null> {
  const row = await db
    .selectFrom('case_result')
    .select('body')
    .where('evaluation_id', '=', evaluationId)
    .where('case_id', '=', escapeText(caseId))
    .executeTakeFirst();
  return row?.body ?? null;
}

/** Everything stored of one trial. */
export interface TrialDetail {
  trial: TrialRow;
  trajectory: Trajectory | null;
  scores: ScoreRow[];
  verdicts: StoredVerdict[];
  model_calls: ModelCallRow[];
}

/** null when the trial has not been started. */
export async function loadTrialDetail(
  db: Db,
  key: { evaluationId: string; caseId: string; trialIndex: number },
): Promise<TrialDetail | null> {
  const trials = await loadTrialsOfCase(db, key.evaluationId, key.caseId);
  const trial = trials.find((one) => one.trial_index === key.trialIndex);
  if (trial === undefined) return null;
  const scores = await loadScoresOfCase(db, key.evaluationId, key.caseId);
  const place = { evaluation_id: key.evaluationId, case_id: escapeText(key.caseId), trial_index: key.trialIndex };
  const [trajectory, verdicts, calls] = await Promise.all([
    db
      .selectFrom('trajectory')
      .select('body')
      .where((e) => e.and(place))
      .executeTakeFirst(),
    db
      .selectFrom('judge_verdict')
      .selectAll()
      .where((e) => e.and(place))
      .orderBy('dimension')
      .orderBy('vote')
      .execute(),
    db
      .selectFrom('model_call')
      .selectAll()
      .where((e) => e.and(place))
      .orderBy('called_at')
      .orderBy('sequence')
      .execute(),
  ]);
  return {
    trial,
    trajectory: trajectory?.body ?? null,
    scores: scores.filter((score) => score.trial_index === key.trialIndex),
    verdicts,
    // Replies are in the trajectory already; here they would double it.
    model_calls: calls.map(({ response: _response, ...call }) => call),
  };
}
