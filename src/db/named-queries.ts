/** A query of docs/sql.md that `assay sql NAME` runs. Each uses only the documented views and tables. */
export interface NamedQuery {
  name: string;
  /** What it answers, in a few words. */
  answers: string;
  sql: string;
}

export const NAMED_QUERIES: readonly NamedQuery[] = [
  {
    name: 'summary',
    answers: 'the newest evaluations with their headline numbers',
    sql: `select evaluation_id, suite, status, exit_code, round(completion_rate::numeric, 3) as completion,
  round(case_pass_rate::numeric, 3) as case_pass, round(tool_score::numeric, 3) as tool_score,
  safety_violations as violations, cost_usd, started_at
from evaluation_summary
order by started_at desc nulls last
limit 20`,
  },
  {
    name: 'trend',
    answers: 'completion rate of every suite by day',
    sql: `select suite, date_trunc('day', started_at)::date as day, count(*) as evaluations,
  round(avg(completion_rate)::numeric, 3) as completion, round(min(completion_rate)::numeric, 3) as worst
from evaluation_summary
where status = 'completed'
group by suite, day
order by suite, day desc
limit 100`,
  },
  {
    name: 'regressions',
    answers: 'metrics that dropped against a baseline, newest first',
    sql: `select evaluation_id, suite, metric, round(baseline_value::numeric, 3) as before, round(value::numeric, 3) as now,
  round(delta::numeric, 3) as delta, round(low::numeric, 3) as low, round(high::numeric, 3) as high, verdict
from regressions
order by started_at desc nulls last, evaluation_id, delta
limit 50`,
  },
  {
    name: 'flaky',
    answers: 'cases that pass sometimes, in the newest evaluation of each suite',
    sql: `select s.suite, s.case_id, s.category, s.passed_trials, s.failed_trials, round(s.stdev::numeric, 3) as stdev
from case_stability s
join (select distinct on (suite) suite, evaluation_id from evaluation_summary
  where status = 'completed' order by suite, started_at desc) newest using (suite, evaluation_id)
where s.outcome = 'flaky'
order by s.suite, s.stdev desc nulls last, s.case_id
limit 100`,
  },
  {
    name: 'failing',
    answers: 'cases that failed most often over the last 10 evaluations of each suite',
    sql: `select s.suite, s.case_id, s.category, count(*) filter (where s.outcome = 'failed') as failed,
  count(*) filter (where s.outcome = 'flaky') as flaky, count(*) as evaluations, min(s.layer) as lowest_layer
from case_stability s
join (select evaluation_id, row_number() over (partition by suite order by started_at desc) as age
  from evaluation_summary where status = 'completed') e using (evaluation_id)
where e.age <= 10
group by s.suite, s.case_id, s.category
having count(*) filter (where s.outcome in ('failed', 'flaky')) > 0
order by failed desc, flaky desc, s.suite, s.case_id
limit 50`,
  },
  {
    name: 'cost',
    answers: 'calls, tokens and money by day, role and model',
    sql: `select day::date as day, suite, role, model, sum(calls) as calls, sum(total_tokens) as tokens,
  round(sum(cost_usd), 4) as cost_usd, sum(calls_without_price) as without_price
from cost
group by cost.day, suite, role, model
order by cost.day desc, suite, role, model
limit 100`,
  },
  {
    name: 'failures',
    answers: 'what failed in the newest evaluation, by scorer',
    sql: `select s.scorer, count(*) as failed_trials, count(distinct s.case_id) as cases, min(s.case_id) as example
from score s
where s.evaluation_id = (select evaluation_id from evaluation_summary order by started_at desc nulls last limit 1)
  and s.passed = false and s.deciding
group by s.scorer
order by failed_trials desc`,
  },
  {
    name: 'slowest',
    answers: 'the slowest trials of the newest evaluation',
    sql: `select case_id, trial_index, status, latency_ms, iterations, tool_calls, total_tokens
from trial
where evaluation_id = (select evaluation_id from evaluation_summary order by started_at desc nulls last limit 1)
  and latency_ms is not null
order by latency_ms desc
limit 20`,
  },
  {
    name: 'errors',
    answers: 'trials without a verdict because of the infrastructure, by cause',
    sql: `select evaluation_id, status, error_kind, count(*) as trials, min(error_message) as example
from trial
where status in ('errored', 'unscored')
group by evaluation_id, status, error_kind
order by trials desc
limit 50`,
  },
];
