import type { MockFixture, SubAgentDefinition, ToolDefinition } from './case.ts';
import type { A2aAgentConfig } from './a2a-config.ts';
import type { CommandAgentConfig, HttpAgentConfig, ReplayAgentConfig } from './agent-config.ts';
import type { JsonObject } from './json.ts';
import type { RetrievalConfig } from './retrieval-config.ts';

export type SuiteKind = 'smoke' | 'benchmark' | 'deep';

/** A model loop over an OpenAI-compatible endpoint. Secrets are named, never held: `api_key_env` is a variable name. */
export interface OpenAiAgentConfig {
  type: 'openai';
  model: string;
  /** Default: OPENAI_BASE_URL, else https://api.openai.com/v1. */
  base_url?: string;
  /** Name of the environment variable that holds the key. Default OPENAI_API_KEY. */
  api_key_env?: string;
  system_prompt?: string;
  /**
   * Further parts of the system prompt, in the order of PROMPT_SEGMENTS (core/trajectory.ts), other names after them. A
   * case's segment of the same name takes its place. `{{tools}}`, `{{sub_agents}}` and `{{max_steps}}` are filled in.
   */
  prompt_segments?: { name: string; text: string }[];
  temperature?: number;
  seed?: number;
  /** Answer tokens a call may use. */
  max_output_tokens?: number;
  /** Default false. */
  stream?: boolean;
  /** Extra body fields, passed on as they are. */
  extra_body?: JsonObject;
  /** Default: the hash of this configuration. */
  version?: string;
}

/** The user's own function: `export default async (input, context) => answer`. */
export interface ModuleAgentConfig {
  type: 'module';
  /** Relative to the suite file; .ts, .mts, .js or .mjs. */
  path: string;
  /** Default `default`. */
  export?: string;
  version?: string;
  options?: JsonObject;
}

export type AgentConfig =
  OpenAiAgentConfig | ModuleAgentConfig | HttpAgentConfig | CommandAgentConfig | ReplayAgentConfig | A2aAgentConfig;

export const JUDGE_DIMENSIONS = [
  'task_completion',
  'answer_quality',
  'tool_selection',
  'prompt_assembly',
  'subagent_isolation',
  'rag_recall',
  'answer_completeness',
  'multi_turn_coherence',
  'trajectory',
  'plan_quality',
  'plan_consistency',
] as const;
export type JudgeDimension = (typeof JUDGE_DIMENSIONS)[number];

/** What a judge scores when its suite does not say: the two that every answer has. */
export const DEFAULT_JUDGE_DIMENSIONS: readonly JudgeDimension[] = ['task_completion', 'answer_quality'];

export const JUDGE_AGGREGATES = ['majority', 'median'] as const;
export type JudgeAggregate = (typeof JUDGE_AGGREGATES)[number];

/** One model of a panel; what it leaves out is the judge's. */
export interface JudgePanelMember {
  model: string;
  base_url?: string;
  api_key_env?: string;
}

/** The judge has its own client, model and prompts; it shares nothing with the agent but, by default, the endpoint. */
export interface JudgeConfig {
  model: string;
  base_url?: string;
  api_key_env?: string;
  /** What the judge scores; default task_completion and answer_quality. A dimension that does not apply to a case is left out there. */
  dimensions: JudgeDimension[];
  /** Language of the shipped prompts. Default en. */
  language: 'en' | 'zh';
  /** Default 0. */
  temperature: number;
  seed?: number;
  /** Default 1024; one retry at four times this when a reply is cut. */
  max_output_tokens: number;
  /** `json_schema`, `json_object` or `text`; default json_object. */
  response_format: 'json_schema' | 'json_object' | 'text';
  /** Folder with prompt files of your own (`<dimension>.txt`), relative to the suite file. */
  prompts?: string;
  /** Verdicts each judge is asked for in every dimension; default 1. */
  votes?: number;
  /** Several judges in place of `model`, which is the first of them; each model once. */
  panel?: JudgePanelMember[];
  /** How votes become one verdict; default majority (docs/judge.md, "Votes"). */
  aggregate?: JudgeAggregate;
  /** How often each trajectory is judged; from 2 on the judge's variance is reported apart from the agent's. Default 1. */
  times?: number;
}

/** The judges of a suite by model, in order; one unless there is a panel. */
export function judgesOf(judge: JudgeConfig): JudgePanelMember[] {
  const { model, base_url, api_key_env, panel } = judge;
  const own = {
    ...(base_url === undefined ? {} : { base_url }),
    ...(api_key_env === undefined ? {} : { api_key_env }),
  };
  // A member with an address of its own does not get the judge's key: it would be sent to somebody else.
  return (panel ?? [{ model }]).map((one) => (one.base_url === undefined ? { ...own, ...one } : one));
}

/** The judge as one name: `a`, or `a + b` for a panel; null without a judge. */
export function judgeName(judge: JudgeConfig | null): string | null {
  return judge === null
    ? null
    : judgesOf(judge)
        .map(({ model }) => model)
        .join(' + ');
}

/** Verdicts of one dimension and trial. */
export function votesOf(judge: Pick<JudgeConfig, 'panel' | 'votes' | 'times'>): number {
  return (judge.panel?.length ?? 1) * (judge.votes ?? 1) * (judge.times ?? 1);
}

/** A server of the Model Context Protocol: a command (stdio) or an address (streamable HTTP), or neither in a replay. */
export interface McpServerConfig {
  /** Letters, digits, _ and -. */
  name: string;
  /** Program of a stdio server; run in the suite's folder with a clean environment. */
  command?: string;
  args?: string[];
  /** Names of variables of the worker's environment that the server gets, beside PATH, HOME and the like. */
  env?: string[];
  /** Address of a streamable HTTP server. */
  url?: string;
  /** Name of the environment variable with the bearer token for `url`. */
  token_env?: string;
  /** Tools offered; default all. */
  tools?: string[];
  /** File of recorded calls, relative to the suite file. */
  recording?: string;
  /** `live`: the server answers. `record`: the same, and the recording is written. `replay`: the recording answers. */
  mode: 'live' | 'record' | 'replay';
  /** One call, milliseconds. Default 30,000. */
  timeout_ms: number;
}

interface Limits {
  /** Model turns; default 20. */
  max_iterations: number;
  /** Total tokens; default 200,000. */
  max_tokens: number;
  /** Default 50. */
  max_tool_calls: number;
  /** One trial of the agent, milliseconds; default 120,000. */
  timeout_ms: number;
  /** One model call, milliseconds; default 60,000. */
  call_timeout_ms: number;
  /** How deep sub-agents may dispatch sub-agents: 1 = only the agent dispatches. Default 2. */
  max_sub_agent_depth?: number;
}

export interface RetryPolicy {
  /** Failed model calls (5xx, 429, timeouts) a trial may meet before it is stored as errored. Default 5. */
  model_failures: number;
  /** Deaths of the process that ran a trial before it is stored as errored (`worker_crashed`). Default 5. */
  worker_deaths: number;
  /** Longest Retry-After that is honoured, milliseconds. Default 300,000. */
  max_retry_after_ms: number;
  /** First backoff, milliseconds; doubles with jitter. Default 1,000. */
  backoff_ms: number;
}

export interface ToolScoreConfig {
  /** Must sum to 1. Default 0.4 / 0.3 / 0.3. */
  weights: { names: number; args: number; order: number };
  /** `weighted`: scoring.md 1a. `source`: the formula of the source to the letter. `bfcl`: weighted, values compared as BFCL does. */
  profile: 'weighted' | 'source' | 'bfcl';
}

export interface SafetyConfig {
  /** Tools no case may call. */
  forbidden_tools: string[];
  /** Tools that need an approval step before them. */
  high_risk_tools: string[];
  /** What each role may call. A case names its role; without one `default_role` applies, without that privilege is not checked. */
  roles?: Record<string, RoleConfig>;
  default_role?: string;
  /** Detectors of personal data; absent: none. */
  personal_data?: PersonalDataConfig;
}

/** An allow list: what it does not name is forbidden. */
export interface RoleConfig {
  /** Tools, with any arguments or with those given only. A tool may stand there several times. */
  allow: (string | AllowedCall)[];
}

/** A call a role may make: arguments that are not named here, or do not match, are outside the list. Matchers allowed. */
export interface AllowedCall {
  tool: string;
  args?: JsonObject;
}

export const PERSONAL_DATA_KINDS = ['email', 'phone', 'cn_resident_id', 'bank_card'] as const;
export type PersonalDataKind = (typeof PERSONAL_DATA_KINDS)[number];

/** Personal data in an answer, in tool arguments or in a message to a sub-agent is a violation, unless the case's own input holds it. */
export interface PersonalDataConfig {
  detect: PersonalDataKind[];
  /** Patterns of your own (RE2 syntax: no look-around, no back references). */
  patterns: { name: string; regex: string }[];
  /** Values that are never personal data, such as the address of your support. */
  allow: string[];
}

/** A scorer of the user's own: a module that exports one pure function (docs/custom-scorers.md). */
export interface CustomScorerConfig {
  /** Name of its score; none of Assay's own. */
  name: string;
  /** Relative to the suite file; .ts, .mts, .js or .mjs. */
  path: string;
  /** Default `default`. */
  export?: string;
  /** Passed on to the function. Default {}. */
  options: JsonObject;
  /** True: a trial that does not pass this score fails. Default false: it informs. */
  decides: boolean;
  /** Milliseconds for one trial; then the score is null. Default 5,000. */
  timeout_ms: number;
}

/** Name of the tool whose successful call is the approval step. */
export const APPROVAL_TOOL = 'request_approval';

/** What a {@link SubAgentDefinition} leaves out. */
export const SUB_AGENT_DEFAULTS = { timeoutMs: 60_000, maxDispatches: 5, maxIterations: 10, maxDepth: 2 } as const;

/** Name of the tool with which the built-in agent dispatches a sub-agent. */
export const DISPATCH_TOOL = 'dispatch_sub_agent';

/** A bound on one metric. Exactly one of min / max. */
export interface GateConfig {
  name: string;
  metric: string;
  min?: number;
  max?: number;
  /** `max: x, exclusive: true` = must be below x. Default false. */
  exclusive?: boolean;
  /** Restricts the metric to cases of this category / tag / difficulty / dimension. */
  category?: string;
  tag?: string;
  difficulty?: string;
  dimension?: string;
}

export interface RegressionConfig {
  /** Absolute drop of a [0,1] metric that alerts; default 0.05. */
  alert: number;
  /** Absolute drop that fails the gate; default 0.10. */
  max_drop: number;
  significance: 'off' | 'required';
  /** Default 0.05. */
  alpha: number;
  /** Refuse a stale baseline. Default false. */
  strict: boolean;
  /** Baseline label. Default `main`. */
  label: string;
}

/** US dollars per million tokens. */
export interface Price {
  input: number;
  cached_input?: number;
  output: number;
}

export interface Suite {
  name: string;
  kind: SuiteKind;
  description?: string;
  /** Dataset files, relative to the suite file. */
  datasets: string[];
  /** Tools offered to every case that names none of its own. */
  tools: ToolDefinition[];
  /** Shared mock fixtures by name. */
  fixtures: Record<string, MockFixture[]>;
  /** Sub-agents of every case that names none of its own. Default none. */
  sub_agents?: SubAgentDefinition[];
  /** MCP servers whose tools are offered beside the others. Default none. */
  mcp?: McpServerConfig[];
  agent: AgentConfig;
  judge: JudgeConfig | null;
  /** Scripted model file that answers when neither OPENAI_API_KEY nor OPENAI_BASE_URL is set; relative to the suite file. */
  offline_model?: string;
  /** Scorers that decide, by name; absent: the defaults of docs/scoring.md. */
  decides?: string[];
  tool_score: ToolScoreConfig;
  /** How retrieved documents are scored and found. */
  retrieval?: RetrievalConfig;
  /** Repetitions of each case; default 1. */
  trials: number;
  /** Trials in flight; default 10. */
  concurrency: number;
  limits: Limits;
  retry: RetryPolicy;
  safety: SafetyConfig;
  /** Scorers of the user's own; absent: none. */
  scorers?: CustomScorerConfig[];
  /** Added to the default gates; one of the same name replaces it. */
  gates: GateConfig[];
  /** Default gates switched off by name. The safety gate cannot be. */
  gates_off: string[];
  regression: RegressionConfig;
  budget_usd?: number;
  prices: Record<string, Price>;
  labels: Record<string, string>;
  /** Words that criteria and rubrics are warned for, in place of the built-in list. */
  vague_words?: string[];
}
