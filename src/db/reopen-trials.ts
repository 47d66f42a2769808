import { sql } from 'kysely';
import type { Db } from './connect.ts';

/**
 * Opens ended trials again. What was paid for stays: an errored or unscored trial keeps its trajectory and its agent's
 * journal, so that only what failed is done again; a failed one is run from the start. Calls that are not to be replayed
 * are set aside: they count as money spent, and for nothing else.
 * @returns how many were opened.
 */
export async function reopenTrials(db: Db, evaluationId: string, options: { failed: boolean }): Promise<number> {
  return db.transaction().execute(async (tx) => {
    await sql`
      create temporary table reopened on commit drop as
      select case_id, trial_index, status = 'failed' as anew from trial
      where evaluation_id = ${evaluationId}
        and (status in ('errored', 'unscored', 'canceled') or (${options.failed} and status = 'failed'))`.execute(tx);
    const opened = await sql`
      update trial t set status = null, error_kind = null, error_message = null, finished_at = null, running = false,
        deaths = 0, model_failures = 0, rate_limits = 0, last_failure_kind = null, last_failure = null, judge_tokens = null, judge_cost_usd = null,
        trajectory_fence = case when r.anew then null else t.trajectory_fence end, fence = nextval('trial_fence')
      from reopened r
      where t.evaluation_id = ${evaluationId} and t.case_id = r.case_id and t.trial_index = r.trial_index`.execute(tx);
    const ofReopened = sql`x.evaluation_id = ${evaluationId} and x.case_id = r.case_id and x.trial_index = r.trial_index`;
    await sql`delete from score x using reopened r where ${ofReopened}`.execute(tx);
    await sql`delete from judge_verdict x using reopened r where ${ofReopened}`.execute(tx);
    await sql`delete from trajectory x using reopened r where ${ofReopened} and r.anew`.execute(tx);
    await sql`
      update model_call x set superseded = t.fence
      from reopened r, trial t
      where ${ofReopened} and t.evaluation_id = x.evaluation_id and t.case_id = x.case_id and t.trial_index = x.trial_index
        and x.superseded = 0 and (r.anew or x.role = 'judge')`.execute(tx);
    // A failure that was run again until it passed must stay visible.
    await sql`
      update evaluation set failures_rerun = failures_rerun + (select count(*) from reopened where anew)
      where id = ${evaluationId}`.execute(tx);
    return Number(opened.numAffectedRows ?? 0n);
  });
}
