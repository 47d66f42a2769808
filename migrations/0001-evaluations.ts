import { sql, type Kysely } from 'kysely';

/** Evaluations, their cases, trials, scores, the model-call journal, results, baselines and gates. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await createEvaluationTables(db);
  await createCaseTable(db);
  await createTrialTables(db);
  await createModelCallTable(db);
  await createScoreTables(db);
  await createCaseResultTable(db);
  await createEvaluationResultTables(db);
  await createGateTables(db);
}

async function createEvaluationTables(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table evaluation (
      id text primary key,
      suite text not null,
      kind text not null,
      status text not null check (status in ('running', 'paused', 'completed', 'stopped', 'canceled')),
      stop_kind text,
      stop_message text,
      suite_hash text not null,
      data_hash text not null,
      agent_hash text not null,
      judge_hash text,
      agent_version text not null,
      agent_model text,
      judge_model text,
      definition jsonb not null,
      suite_path text not null,
      suite_root text not null,
      offline boolean not null,
      labels jsonb not null default '{}',
      trials integer not null,
      concurrency integer not null,
      cases integer not null,
      planned_trials integer not null,
      budget_usd numeric,
      fail_fast boolean not null default false,
      filters jsonb not null default '{}',
      baseline_label text not null default 'main',
      schedule_id text,
      source_evaluation_id text,
      judge_cache boolean not null default true,
      revision integer not null default 1,
      failures_rerun integer not null default 0,
      created_at timestamptz not null default now(),
      started_at timestamptz,
      finished_at timestamptz,
      exit_code integer,
      verdict text
    )`.execute(db);
  await sql`create index evaluation_by_suite on evaluation (suite, created_at desc)`.execute(db);
  await sql`create index evaluation_by_age on evaluation (created_at desc)`.execute(db);
  await sql`create index evaluation_unfinished on evaluation (created_at desc) where status in ('running', 'paused', 'stopped')`.execute(
    db,
  );
}

async function createCaseTable(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table evaluation_case (
      evaluation_id text not null references evaluation (id) on delete cascade,
      position integer not null,
      case_id text not null,
      content_hash text not null,
      content jsonb not null,
      trials integer not null,
      first_ordinal integer not null,
      category text,
      difficulty text,
      dimension text,
      tags text[] not null default '{}',
      primary key (evaluation_id, position)
    )`.execute(db);
  await sql`create unique index evaluation_case_by_id on evaluation_case (evaluation_id, case_id)`.execute(db);
  await sql`create index evaluation_case_by_ordinal on evaluation_case (evaluation_id, first_ordinal)`.execute(db);
}

async function createTrialTables(db: Kysely<unknown>): Promise<void> {
  await sql`create sequence trial_fence`.execute(db);
  await sql`
    create table trial (
      evaluation_id text not null references evaluation (id) on delete cascade,
      case_id text not null,
      trial_index integer not null,
      status text check (status in ('passed', 'failed', 'unscored', 'errored', 'canceled')),
      fence bigint not null,
      trajectory_fence bigint,
      worker text not null,
      running boolean not null default true,
      claims integer not null default 1,
      deaths integer not null default 0,
      model_failures integer not null default 0,
      rate_limits integer not null default 0,
      last_failure_kind text,
      last_failure text,
      error_kind text,
      error_message text,
      final_status text,
      iterations integer,
      tool_calls integer,
      input_tokens bigint,
      cached_tokens bigint,
      output_tokens bigint,
      reasoning_tokens bigint,
      total_tokens bigint,
      judge_tokens bigint,
      cost_usd numeric,
      judge_cost_usd numeric,
      latency_ms integer,
      first_token_ms integer,
      first_started_at timestamptz not null default now(),
      started_at timestamptz not null default now(),
      finished_at timestamptz,
      primary key (evaluation_id, case_id, trial_index)
    )`.execute(db);
  await sql`create index trial_by_latency on trial (evaluation_id, latency_ms desc) where latency_ms is not null`.execute(
    db,
  );
  await sql`
    create table trajectory (
      evaluation_id text not null,
      case_id text not null,
      trial_index integer not null,
      fence bigint not null,
      body jsonb not null,
      primary key (evaluation_id, case_id, trial_index),
      foreign key (evaluation_id, case_id, trial_index) references trial on delete cascade
    )`.execute(db);
}

async function createModelCallTable(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table model_call (
      evaluation_id text not null,
      case_id text not null,
      trial_index integer not null,
      role text not null,
      path text not null,
      dimension text not null,
      vote integer not null,
      sequence integer not null,
      request_hash text not null,
      response jsonb not null,
      model text,
      input_tokens bigint,
      cached_tokens bigint,
      output_tokens bigint,
      reasoning_tokens bigint,
      total_tokens bigint,
      cost_usd numeric,
      latency_ms integer not null,
      called_at timestamptz not null default now(),
      superseded bigint not null default 0,
      primary key (evaluation_id, case_id, trial_index, role, path, dimension, vote, sequence, superseded),
      foreign key (evaluation_id, case_id, trial_index) references trial on delete cascade
    )`.execute(db);
  // What a budget needs: the money of an evaluation's calls since a moment, without reading the calls.
  await sql`create index model_call_by_time on model_call (evaluation_id, called_at) include (cost_usd) where cost_usd is not null`.execute(
    db,
  );
}

async function createScoreTables(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table score (
      evaluation_id text not null,
      case_id text not null,
      trial_index integer not null,
      scorer text not null,
      dimension text,
      value double precision check (value between 0 and 1),
      passed boolean,
      deciding boolean not null,
      violation boolean not null,
      reason text not null,
      details jsonb,
      primary key (evaluation_id, case_id, trial_index, scorer),
      foreign key (evaluation_id, case_id, trial_index) references trial on delete cascade
    )`.execute(db);
  await sql`
    create table judge_verdict (
      evaluation_id text not null,
      case_id text not null,
      trial_index integer not null,
      dimension text not null,
      vote integer not null,
      round integer not null default 0,
      prompt_hash text not null,
      model text,
      params jsonb not null,
      raw_reply text,
      parsed jsonb,
      value double precision check (value between 0 and 1),
      passed boolean,
      unscored_cause text,
      reason text,
      cached_from text,
      primary key (evaluation_id, case_id, trial_index, dimension, vote),
      foreign key (evaluation_id, case_id, trial_index) references trial on delete cascade
    )`.execute(db);
}

async function createCaseResultTable(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table case_result (
      evaluation_id text not null references evaluation (id) on delete cascade,
      case_id text not null,
      content_hash text not null,
      category text,
      difficulty text,
      dimension text,
      tags text[] not null default '{}',
      outcome text not null check (outcome in ('passed', 'failed', 'flaky', 'unscored')),
      passed_trials integer not null,
      failed_trials integer not null,
      unscored_trials integer not null,
      errored_trials integer not null,
      missing_trials integer not null,
      layer text,
      completion_rate double precision,
      tool_score double precision,
      stdev double precision,
      tokens bigint,
      cost_usd numeric,
      body jsonb not null,
      primary key (evaluation_id, case_id)
    )`.execute(db);
  await sql`create index case_result_by_outcome on case_result (evaluation_id, outcome)`.execute(db);
}

async function createEvaluationResultTables(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table evaluation_result (
      evaluation_id text primary key references evaluation (id) on delete cascade,
      body jsonb not null,
      comparison jsonb,
      computed_at timestamptz not null default now()
    )`.execute(db);
  await sql`
    create table evaluation_metric (
      evaluation_id text not null references evaluation (id) on delete cascade,
      metric text not null,
      value double precision,
      low double precision,
      high double precision,
      cases integer not null,
      cases_applicable integer not null,
      trials integer not null,
      trials_applicable integer not null,
      primary key (evaluation_id, metric)
    )`.execute(db);
  await sql`
    create table metric_delta (
      evaluation_id text not null references evaluation (id) on delete cascade,
      baseline_evaluation_id text not null,
      metric text not null,
      baseline_value double precision,
      value double precision,
      delta double precision,
      kind text not null,
      low double precision,
      high double precision,
      p double precision,
      smallest_detectable double precision,
      pairs integer not null,
      verdict text not null,
      primary key (evaluation_id, metric)
    )`.execute(db);
  await sql`create index metric_delta_regressed on metric_delta (verdict, evaluation_id)`.execute(db);
}

async function createGateTables(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table gate_result (
      evaluation_id text not null references evaluation (id) on delete cascade,
      position integer not null,
      gate text not null,
      metric text not null,
      wanted text not null,
      got double precision,
      trials integer not null,
      trials_applicable integer not null,
      verdict text not null,
      reason text not null,
      case_ids text[] not null,
      primary key (evaluation_id, gate)
    )`.execute(db);
  await sql`
    create table baseline (
      suite text not null,
      label text not null,
      evaluation_id text not null references evaluation (id),
      note text,
      set_at timestamptz not null default now(),
      primary key (suite, label)
    )`.execute(db);
}
