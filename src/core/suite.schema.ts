import { z } from 'zod';
import { a2aAgentSchema } from './a2a-config.schema.ts';
import { commandAgentSchema, httpAgentSchema, replayAgentSchema } from './agent-config.schema.ts';
import { MOST_TRIALS, mockFixtureSchema, subAgentSchema, toolDefinitionSchema } from './case.schema.ts';
import { FURTHER_DIMENSIONS, METRICS } from './evaluation.ts';
import { retrievalSchema } from './retrieval-config.schema.ts';
import { jsonObject, strictObject } from './strict-object.schema.ts';
import { DEFAULT_JUDGE_DIMENSIONS, JUDGE_AGGREGATES, JUDGE_DIMENSIONS, PERSONAL_DATA_KINDS, votesOf } from './suite.ts';
import type { GateConfig, Suite } from './suite.ts';

const text = z.string().min(1, { error: 'must not be empty' });
const names = z.array(text);
const whole = z.int().min(0);
const positive = z.int().min(1);
const share = z.number().min(0).max(1);
const money = z.number().min(0);

const url = text
  .regex(/^https?:\/\//, { error: 'expected an address that starts with http:// or https://' })
  .regex(/^(?!https?:\/\/[^/?#]*@)/, {
    error: 'expected an address without user name and password; name the variable of the key in api_key_env',
  })
  .regex(/^[^?#]*$/, {
    error:
      'expected an address without a query; a path is added to it, and a key goes into the variable of api_key_env',
  });
const envName = text.regex(/^[A-Za-z_][A-Za-z0-9_]*$/, {
  error: 'expected the name of an environment variable, never the key itself',
});

const openAiAgent = strictObject(
  {
    type: z.literal('openai'),
    model: text,
    base_url: url.exactOptional(),
    api_key_env: envName.exactOptional(),
    system_prompt: z.string().exactOptional(),
    prompt_segments: z.array(strictObject({ name: text, text: z.string() })).exactOptional(),
    temperature: z.number().min(0).max(2).exactOptional(),
    seed: z.int().exactOptional(),
    max_output_tokens: positive.exactOptional(),
    stream: z.boolean().exactOptional(),
    extra_body: jsonObject.exactOptional(),
    version: text.exactOptional(),
  },
  { api_key: 'keys do not belong into files; put it into an environment variable and name that in api_key_env' },
);

const NO_KEY = {
  api_key: 'keys do not belong into files; put it into an environment variable and name that in api_key_env',
};
/** Verdicts of one judge, judges of a panel, times a trajectory is judged. */
const MOST_VOTES = 25;
const MOST_VERDICTS = 100;

const moduleAgent = strictObject({
  type: z.literal('module'),
  path: text.regex(/\.(ts|mts|js|mjs)$/, { error: 'expected a .ts, .mts, .js or .mjs file' }),
  export: text.exactOptional(),
  version: text.exactOptional(),
  options: jsonObject.exactOptional(),
});

const judge = strictObject(
  {
    model: text,
    base_url: url.exactOptional(),
    api_key_env: envName.exactOptional(),
    dimensions: z
      .array(z.enum(JUDGE_DIMENSIONS))
      .min(1)
      .default([...DEFAULT_JUDGE_DIMENSIONS]),
    language: z.enum(['en', 'zh']).default('en'),
    temperature: z.number().min(0).max(2).default(0),
    seed: z.int().exactOptional(),
    max_output_tokens: positive.default(1024),
    response_format: z.enum(['json_schema', 'json_object', 'text']).default('json_object'),
    prompts: text.exactOptional(),
    votes: positive.max(MOST_VOTES).exactOptional(),
    panel: z
      .array(strictObject({ model: text, base_url: url.exactOptional(), api_key_env: envName.exactOptional() }, NO_KEY))
      .min(2, { error: 'a panel has at least two judges; one alone is judge.model' })
      .max(MOST_VOTES)
      .exactOptional(),
    aggregate: z.enum(JUDGE_AGGREGATES).exactOptional(),
    times: positive.max(MOST_VOTES).exactOptional(),
  },
  NO_KEY,
).superRefine((judge, context) => {
  const models = judge.panel?.map(({ model }) => model) ?? [judge.model];
  const fault = (path: string[], message: string): void => context.addIssue({ code: 'custom', path, message });
  const twice = models.find((model, at) => models.indexOf(model) !== at);
  if (twice !== undefined)
    fault(['panel'], `"${twice}" is in the panel twice; several verdicts of one model: votes: n`);
  if (judge.model !== models[0])
    fault(['model'], 'with a panel, list every judge in judge.panel and none in judge.model');
  if (votesOf(judge) > MOST_VERDICTS) {
    fault(['votes'], `judges × votes × times is over ${MOST_VERDICTS} verdicts for each dimension of a trial`);
  }
});

const mcpServer = strictObject(
  {
    name: text.regex(/^[A-Za-z0-9_-]{1,32}$/, { error: 'expected letters, digits, _ and -, at most 32' }),
    command: text.exactOptional(),
    args: z.array(z.string()).exactOptional(),
    env: z.array(envName).exactOptional(),
    url: url.exactOptional(),
    token_env: envName.exactOptional(),
    tools: names.exactOptional(),
    recording: text.exactOptional(),
    mode: z.enum(['live', 'record', 'replay']).default('live'),
    timeout_ms: positive.default(30_000),
  },
  { token: 'tokens do not belong into files; put it into an environment variable and name that in token_env' },
).superRefine((server, context) => {
  const problem = mcpProblem(server);
  if (problem !== null) context.addIssue({ code: 'custom', message: problem });
});

function mcpProblem(server: { command?: string; url?: string; mode: string; recording?: string }): string | null {
  if (server.mode !== 'live' && server.recording === undefined) return `mode ${server.mode} needs a recording: a file`;
  if (server.command !== undefined && server.url !== undefined) return 'expected either command or url, got both';
  if (server.mode === 'replay' || server.command !== undefined || server.url !== undefined) return null;
  return 'expected command (a stdio server) or url (a streamable HTTP server)';
}

const limits = strictObject({
  max_iterations: positive.default(20),
  max_tokens: positive.default(200_000),
  max_tool_calls: whole.default(50),
  timeout_ms: positive.default(120_000),
  call_timeout_ms: positive.default(60_000),
  max_sub_agent_depth: whole.exactOptional(),
}).prefault({});

const retry = strictObject({
  model_failures: positive.default(5),
  worker_deaths: positive.default(5),
  max_retry_after_ms: whole.default(300_000),
  backoff_ms: whole.default(1_000),
}).prefault({});

const toolScore = strictObject({
  weights: strictObject({ names: share, args: share, order: share })
    .refine(({ names, args, order }) => Math.abs(names + args + order - 1) <= 1e-9, {
      error: 'names + args + order must sum to 1',
    })
    .default({ names: 0.4, args: 0.3, order: 0.3 }),
  profile: z.enum(['weighted', 'source', 'bfcl']).default('weighted'),
}).prefault({});

/** A metric: one of Assay's, or the name of a scorer of the suite's own; which there are, {@link gateSchemaOf} knows. */
const gate = {
  name: text,
  metric: text,
  min: z.number().exactOptional(),
  max: z.number().exactOptional(),
  exclusive: z.boolean().exactOptional(),
  category: text.exactOptional(),
  tag: text.exactOptional(),
  difficulty: text.exactOptional(),
  dimension: text.exactOptional(),
};

/** One gate of a suite file; its short forms are written out before (datasets/checks/gates.ts). */
export function gateSchemaOf(ownScorers: readonly string[]): z.ZodType<GateConfig> {
  const metric = z.enum([...METRICS, ...FURTHER_DIMENSIONS, ...ownScorers]);
  return strictObject({ ...gate, metric }).refine(({ min, max }) => (min === undefined) !== (max === undefined), {
    error: 'expected exactly one of min and max',
  });
}

const regression = strictObject({
  alert: share.default(0.05),
  max_drop: share.default(0.1),
  significance: z.enum(['off', 'required']).default('off'),
  alpha: share.default(0.05),
  strict: z.boolean().default(false),
  label: text.default('main'),
}).prefault({});

const safety = strictObject({
  forbidden_tools: names.default([]),
  high_risk_tools: names.default([]),
  roles: z
    .record(
      text,
      strictObject({ allow: z.array(z.union([text, strictObject({ tool: text, args: jsonObject.exactOptional() })])) }),
    )
    .exactOptional(),
  default_role: text.exactOptional(),
  personal_data: strictObject({
    detect: z.array(z.enum(PERSONAL_DATA_KINDS)).default([]),
    patterns: z.array(strictObject({ name: text, regex: text })).default([]),
    allow: names.default([]),
  }).exactOptional(),
}).prefault({});

const customScorer = strictObject({
  name: text.regex(/^[a-z][a-z0-9_]{0,63}$/, {
    error: 'expected lower-case letters, digits and _, at most 64, a letter first',
  }),
  path: text,
  export: text.exactOptional(),
  options: jsonObject.default({}),
  decides: z.boolean().default(false),
  timeout_ms: positive.max(600_000).default(5_000),
});

const price = strictObject({ input: money, cached_input: money.exactOptional(), output: money });

/** Keys of the specification that this version does not read: an error says so instead of "unknown". */
const NOT_YET: Record<string, string> = {
  agents: 'one agent a suite in this version; write agent: …',
  publish: 'publishing is not part of this version',
  timeouts: 'write limits: {timeout_ms, call_timeout_ms}',
  budget: 'write budget_usd: 5',
  api_key: 'keys do not belong into files; name an environment variable in agent.api_key_env',
};

/**
 * A suite after its short forms are written out (datasets/load-suite.ts). Strict: an unknown key is an error.
 * Defaults are those documented in core/suite.ts.
 */
export const suiteSchema: z.ZodType<Suite> = strictObject(
  {
    // It stands in every list and report: it must not move the cursor or turn a line around.
    name: text.regex(/^[^\p{Cc}\u200e\u200f\u2028-\u202e\u2066-\u2069]*$/u, {
      error: 'expected no control characters, line breaks or characters that change the direction of text',
    }),
    kind: z.enum(['smoke', 'benchmark', 'deep']).default('smoke'),
    description: z.string().exactOptional(),
    datasets: names.min(1, { error: 'expected at least one dataset file' }),
    tools: z.array(toolDefinitionSchema).default([]),
    fixtures: z.record(z.string(), z.array(mockFixtureSchema)).default({}),
    sub_agents: z.array(subAgentSchema).exactOptional(),
    mcp: z.array(mcpServer).exactOptional(),
    agent: z.discriminatedUnion('type', [
      openAiAgent,
      moduleAgent,
      httpAgentSchema,
      commandAgentSchema,
      replayAgentSchema,
      a2aAgentSchema,
    ]),
    judge: judge.nullable().default(null),
    offline_model: text.exactOptional(),
    decides: names.min(1).exactOptional(),
    tool_score: toolScore,
    retrieval: retrievalSchema.exactOptional(),
    trials: positive.max(MOST_TRIALS).default(1),
    concurrency: positive.default(10),
    limits,
    retry,
    safety,
    scorers: z
      .array(customScorer)
      .refine((list) => new Set(list.map(({ name }) => name)).size === list.length, { error: 'two have one name' })
      .exactOptional(),
    gates: z.array(strictObject(gate)).default([]),
    gates_off: names.default([]),
    regression,
    budget_usd: money.exactOptional(),
    prices: z.record(z.string(), price).default({}),
    labels: z.record(z.string(), z.string()).default({}),
    vague_words: names.exactOptional(),
  },
  NOT_YET,
  ['extends', 'allow_outside'],
);
