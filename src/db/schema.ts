import type { ColumnType, Generated } from 'kysely';
import type { Json } from '../core/json.ts';
import type { Suite } from '../core/suite.ts';
import type { EvalCase } from '../core/case.ts';
import type { Trajectory } from '../core/trajectory.ts';
import type { CaseResult, Comparison, EvaluationResult, EvaluationStatus } from '../core/evaluation.ts';
import type { ModelReply } from '../core/model.ts';
import type { TrialStatus } from '../core/trial.ts';

/** Column types by hand; a test compares them with the live schema. bigint and numeric are read as numbers (see connect.ts). */
type Stored<T> = ColumnType<T, string, string>;

export interface EvaluationTable {
  id: string;
  suite: string;
  kind: string;
  status: EvaluationStatus;
  stop_kind: string | null;
  stop_message: string | null;
  suite_hash: string;
  data_hash: string;
  agent_hash: string;
  judge_hash: string | null;
  agent_version: string;
  agent_model: string | null;
  judge_model: string | null;
  definition: Stored<Suite>;
  suite_path: string;
  suite_root: string;
  offline: boolean;
  labels: ColumnType<Record<string, string>, string, string>;
  trials: number;
  concurrency: number;
  cases: number;
  planned_trials: number;
  budget_usd: number | null;
  fail_fast: Generated<boolean>;
  filters: ColumnType<Json, string, string>;
  baseline_label: Generated<string>;
  schedule_id: string | null;
  /** The evaluation whose trajectories this one scores; null: it ran the agent. */
  source_evaluation_id: string | null;
  /** False: verdicts are neither taken from the cache nor put there. */
  judge_cache: Generated<boolean>;
  revision: Generated<number>;
  /** Failed trials that `retry --failed` has run again. */
  failures_rerun: Generated<number>;
  created_at: Generated<Date>;
  started_at: Date | null;
  finished_at: Date | null;
  exit_code: number | null;
  verdict: string | null;
}

interface EvaluationCaseTable {
  evaluation_id: string;
  position: number;
  case_id: string;
  content_hash: string;
  content: Stored<EvalCase>;
  trials: number;
  first_ordinal: number;
  category: string | null;
  difficulty: string | null;
  dimension: string | null;
  tags: string[];
}

interface TrialColumns {
  evaluation_id: string;
  case_id: string;
  trial_index: number;
}

export interface TrialTable extends TrialColumns {
  status: TrialStatus | null;
  fence: number;
  trajectory_fence: number | null;
  worker: string;
  running: Generated<boolean>;
  claims: Generated<number>;
  deaths: Generated<number>;
  model_failures: Generated<number>;
  rate_limits: Generated<number>;
  /** What its last try met that is tried again; null: nothing yet. */
  last_failure_kind: string | null;
  last_failure: string | null;
  error_kind: string | null;
  error_message: string | null;
  final_status: string | null;
  iterations: number | null;
  tool_calls: number | null;
  input_tokens: number | null;
  cached_tokens: number | null;
  output_tokens: number | null;
  reasoning_tokens: number | null;
  total_tokens: number | null;
  judge_tokens: number | null;
  cost_usd: number | null;
  judge_cost_usd: number | null;
  latency_ms: number | null;
  first_token_ms: number | null;
  first_started_at: Generated<Date>;
  started_at: Generated<Date>;
  finished_at: Date | null;
}

interface TrajectoryTable extends TrialColumns {
  fence: number;
  body: Stored<Trajectory>;
}

export interface ModelCallTable extends TrialColumns {
  role: string;
  path: string;
  dimension: string;
  vote: number;
  sequence: number;
  request_hash: string;
  response: Stored<ModelReply>;
  model: string | null;
  input_tokens: number | null;
  cached_tokens: number | null;
  output_tokens: number | null;
  reasoning_tokens: number | null;
  total_tokens: number | null;
  cost_usd: number | null;
  latency_ms: number;
  /** 0: the call answers for its place in the journal; else the fence of the retry that set it aside. */
  superseded: Generated<number>;
  called_at: Generated<Date>;
}

export interface ScoreTable extends TrialColumns {
  scorer: string;
  dimension: string | null;
  value: number | null;
  passed: boolean | null;
  deciding: boolean;
  violation: boolean;
  reason: string;
  details: ColumnType<Json, string, string>;
}

export interface JudgeVerdictTable extends TrialColumns {
  dimension: string;
  vote: number;
  /** 0-based: the how manieth judging of the trajectory. */
  round: Generated<number>;
  prompt_hash: string;
  model: string | null;
  params: ColumnType<Json, string, string>;
  raw_reply: string | null;
  parsed: ColumnType<Json, string, string>;
  value: number | null;
  passed: boolean | null;
  unscored_cause: string | null;
  reason: string | null;
  /** The evaluation that paid for a verdict out of the cache. */
  cached_from: string | null;
}

interface VerdictCacheTable {
  key: string;
  evaluation_id: string;
  dimension: string;
  prompt_hash: string;
  model: string | null;
  params: ColumnType<Json, string, string>;
  raw_reply: string;
  created_at: Generated<Date>;
}

interface HumanLabelTable extends TrialColumns {
  dimension: string;
  reviewer: string;
  label: string;
  labelled_at: Generated<Date>;
}

interface CaseResultTable {
  evaluation_id: string;
  case_id: string;
  content_hash: string;
  category: string | null;
  difficulty: string | null;
  dimension: string | null;
  tags: string[];
  outcome: CaseResult['outcome'];
  passed_trials: number;
  failed_trials: number;
  unscored_trials: number;
  errored_trials: number;
  missing_trials: number;
  layer: string | null;
  completion_rate: number | null;
  tool_score: number | null;
  stdev: number | null;
  tokens: number | null;
  cost_usd: number | null;
  body: Stored<CaseResult>;
}

interface EvaluationResultTable {
  evaluation_id: string;
  body: Stored<EvaluationResult>;
  comparison: ColumnType<Comparison | null, string | null, string | null>;
  computed_at: Generated<Date>;
}

interface EvaluationMetricTable {
  evaluation_id: string;
  metric: string;
  value: number | null;
  low: number | null;
  high: number | null;
  cases: number;
  cases_applicable: number;
  trials: number;
  trials_applicable: number;
}

interface MetricDeltaTable {
  evaluation_id: string;
  baseline_evaluation_id: string;
  metric: string;
  baseline_value: number | null;
  value: number | null;
  delta: number | null;
  kind: string;
  low: number | null;
  high: number | null;
  p: number | null;
  smallest_detectable: number | null;
  pairs: number;
  verdict: string;
}

interface GateResultTable {
  evaluation_id: string;
  position: number;
  gate: string;
  metric: string;
  wanted: string;
  got: number | null;
  trials: number;
  trials_applicable: number;
  verdict: string;
  reason: string;
  case_ids: string[];
}

export interface BaselineTable {
  suite: string;
  label: string;
  evaluation_id: string;
  note: string | null;
  set_at: Generated<Date>;
}

/** A task of `assay serve`; `history` and `push_configs` hold A2A messages and push configurations as JSON. */
export interface A2aTaskTable {
  id: string;
  context_id: string;
  /** What is served: suites, or the agent of one. */
  served: string;
  evaluation_id: string | null;
  state: A2aTaskStateName;
  /** What a waiting task asks for, or why one was rejected. */
  note: string | null;
  history: Stored<Json[]>;
  push_configs: Stored<Json[]>;
  /** State that was last told to those who asked to be told. */
  pushed: string | null;
  /** Server process that tells the webhooks, and until when nobody else may. */
  pusher: string | null;
  pusher_until: Date | null;
  created_at: Generated<Date>;
  updated_at: Generated<Date>;
}

type A2aTaskStateName = 'waiting' | 'started' | 'canceled' | 'rejected';

export interface Database {
  evaluation: EvaluationTable;
  evaluation_case: EvaluationCaseTable;
  trial: TrialTable;
  trajectory: TrajectoryTable;
  model_call: ModelCallTable;
  score: ScoreTable;
  judge_verdict: JudgeVerdictTable;
  verdict_cache: VerdictCacheTable;
  human_label: HumanLabelTable;
  case_result: CaseResultTable;
  evaluation_result: EvaluationResultTable;
  evaluation_metric: EvaluationMetricTable;
  metric_delta: MetricDeltaTable;
  gate_result: GateResultTable;
  baseline: BaselineTable;
  a2a_task: A2aTaskTable;
}
