import { sql, type Kysely } from 'kysely';

/**
 * The four documented reporting views (docs/sql.md). Three read aggregate rows, so they stay fast over years of history;
 * `cost` reads the model calls themselves (it says the day and the model of each) and takes time in proportion to them.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create view evaluation_summary as
    select e.id as evaluation_id, e.suite, e.kind, e.status, e.exit_code, e.verdict, e.agent_version, e.agent_model, e.judge_model,
      e.labels, e.cases, e.planned_trials, e.started_at, e.finished_at,
      (select m.value from evaluation_metric m where m.evaluation_id = e.id and m.metric = 'completion_rate') as completion_rate,
      (select m.value from evaluation_metric m where m.evaluation_id = e.id and m.metric = 'case_pass_rate') as case_pass_rate,
      (select m.value from evaluation_metric m where m.evaluation_id = e.id and m.metric = 'tool_score') as tool_score,
      (select m.value from evaluation_metric m where m.evaluation_id = e.id and m.metric = 'answer_quality') as answer_quality,
      (select m.value from evaluation_metric m where m.evaluation_id = e.id and m.metric = 'safety_violations') as safety_violations,
      (select m.value from evaluation_metric m where m.evaluation_id = e.id and m.metric = 'unscored_share') as unscored_share,
      (select m.value from evaluation_metric m where m.evaluation_id = e.id and m.metric = 'stability_stdev') as stability_stdev,
      (select m.value from evaluation_metric m where m.evaluation_id = e.id and m.metric = 'cost_usd') as cost_usd
    from evaluation e`.execute(db);
  await sql`
    create view regressions as
    select d.evaluation_id, e.suite, e.started_at, d.baseline_evaluation_id, d.metric, d.baseline_value, d.value, d.delta, d.kind,
      d.low, d.high, d.p, d.smallest_detectable, d.pairs, d.verdict
    from metric_delta d join evaluation e on e.id = d.evaluation_id
    where d.verdict in ('alert', 'regressed')`.execute(db);
  await sql`
    create view case_stability as
    select r.evaluation_id, e.suite, r.case_id, r.category, r.difficulty, r.outcome, r.passed_trials, r.failed_trials,
      r.unscored_trials, r.errored_trials, r.completion_rate, r.stdev, r.layer
    from case_result r join evaluation e on e.id = r.evaluation_id`.execute(db);
  await sql`
    create view cost as
    select c.evaluation_id, e.suite, c.role, c.model, date_trunc('day', c.called_at) as day, count(*) as calls,
      sum(c.input_tokens) as input_tokens, sum(c.cached_tokens) as cached_tokens, sum(c.output_tokens) as output_tokens,
      sum(c.total_tokens) as total_tokens, sum(c.cost_usd) as cost_usd,
      count(*) filter (where c.total_tokens is null) as calls_without_usage,
      count(*) filter (where c.cost_usd is null) as calls_without_price
    from model_call c join evaluation e on e.id = c.evaluation_id
    group by c.evaluation_id, e.suite, c.role, c.model, date_trunc('day', c.called_at)`.execute(db);
}
