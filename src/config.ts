import { hostname } from 'node:os';
import path from 'node:path';
import { z } from 'zod';
import { cacheFolder } from './core/cache-folder.ts';
import { UserError } from './core/errors.ts';

const optionalText = z
  .string()
  .transform((text) => text.trim())
  .transform((text) => (text === '' ? undefined : text))
  .optional();
/** The value is not repeated in the message: a database address holds a password. */
const address = (protocols: readonly string[], example: string): typeof optionalText =>
  optionalText.refine(
    (text) => text === undefined || (URL.canParse(text) && protocols.includes(new URL(text).protocol)),
    { error: `is not an address; expected something like ${example}` },
  ) as typeof optionalText;
/** As Temporal's clients take it: a name or address, an IPv6 one in brackets, and a port (without one: 7233). */
const isHostAndPort = (text: string): boolean => {
  const match = /^(?:\[[0-9a-fA-F:.]+\]|[^\s:/@?#[\]]+)(?::(\d{1,5}))?$/.exec(text);
  const port = Number(match?.[1] ?? 7233);
  return match !== null && port >= 1 && port <= 65_535;
};
/** Only scheme, host, port and path: the rest would be lost, or is a place keys are put into. */
const isBare = (url: URL): boolean => `${url.username}${url.password}${url.search}${url.hash}` === '';
const milliseconds = (fallback: number): z.ZodDefault<z.ZodCoercedNumber> =>
  z.coerce.number().int().positive().default(fallback);

const schema = z.object({
  TEMPORAL_ADDRESS: optionalText.refine((text) => text === undefined || isHostAndPort(text), {
    error: 'is not of the form host:port, such as localhost:7233 (no http://, port 1 to 65535)',
  }),
  TEMPORAL_NAMESPACE: optionalText,
  DATABASE_URL: address(['postgres:', 'postgresql:'], 'postgresql://USER:PASSWORD@HOST:PORT/DATABASE'),
  ASSAY_TEMPORAL_BIN: optionalText,
  ASSAY_TASK_QUEUE: z.string().min(1).default('assay'),
  ASSAY_AGENT_TASK_QUEUE: optionalText,
  ASSAY_JUDGE_TASK_QUEUE: optionalText,
  ASSAY_MAX_ACTIVITIES: z.coerce.number().int().min(1).max(2_000).default(300),
  ASSAY_HEARTBEAT_TIMEOUT_MS: milliseconds(8_000),
  ASSAY_SHARD_SIZE: z.coerce.number().int().min(1).max(500).default(400),
  ASSAY_SHARD_WINDOW: z.coerce.number().int().min(1).max(100).default(4),
  ASSAY_ENDPOINT_GRACE_MS: milliseconds(60_000),
  ASSAY_SERVE_TOKEN: optionalText,
  ASSAY_LOG_LEVEL: z.enum(['debug', 'info', 'warn', 'error']).default('warn'),
  OPENAI_API_KEY: optionalText,
  OPENAI_BASE_URL: address(['http:', 'https:'], 'https://api.openai.com/v1').refine(
    (text) => text === undefined || !URL.canParse(text) || isBare(new URL(text)),
    { error: 'holds a user name, a password or a query; the key goes into OPENAI_API_KEY' },
  ),
});

/** Everything Assay reads of its environment. Suites name further variables for their keys; `env` serves those. */
export interface Config {
  /** undefined: the embedded server. */
  temporalAddress: string | undefined;
  namespace: string;
  /** undefined: the embedded Postgres. */
  databaseUrl: string | undefined;
  /** Folder of the embedded stack; default `.assay` in the working directory. */
  home: string;
  temporalBin: string | undefined;
  /** Workflows, and activities unless the next two are set. */
  taskQueue: string;
  agentTaskQueue: string;
  judgeTaskQueue: string;
  /** Activities a worker runs at once; default 300. */
  maxActivities: number;
  /** After this long without a sign of life a trial moves to another worker; default 8,000. */
  heartbeatTimeoutMs: number;
  /** Trials a shard workflow holds; default 400 (about 7 history events each). */
  shardSize: number;
  /** Shards under way at once; default 4. */
  shardWindow: number;
  /** How long an endpoint that had answered may be unreachable before the evaluation stops; default 60,000. */
  endpointGraceMs: number;
  /** Bearer token that `assay serve` asks for; undefined: none, on loopback only. */
  serveToken: string | undefined;
  logLevel: 'debug' | 'info' | 'warn' | 'error';
  openaiApiKey: string | undefined;
  openaiBaseUrl: string | undefined;
  hostName: string;
  cacheFolder: string;
  env: Readonly<Record<string, string | undefined>>;
}

/** Folder of the embedded stack: ASSAY_HOME, else `.assay` in the working directory. */
export function homeFolder(env: Record<string, string | undefined>, cwd: string): string {
  const named = (env['ASSAY_HOME'] ?? '').trim();
  return path.resolve(cwd, named === '' ? '.assay' : named);
}

/**
 * The only reader of the process environment.
 * @throws UserError naming each variable that has a wrong value.
 */
export function readConfig(env: Record<string, string | undefined> = process.env, cwd: string = process.cwd()): Config {
  const parsed = schema.safeParse(env);
  if (!parsed.success) {
    const lines = parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);
    throw new UserError(`wrong environment:\n  ${lines.join('\n  ')}`, { hint: 'see docs/configuration.md' });
  }
  const values = parsed.data;
  return Object.freeze({
    temporalAddress: values.TEMPORAL_ADDRESS,
    namespace: values.TEMPORAL_NAMESPACE ?? 'default',
    databaseUrl: values.DATABASE_URL,
    home: homeFolder(env, cwd),
    temporalBin: values.ASSAY_TEMPORAL_BIN,
    taskQueue: values.ASSAY_TASK_QUEUE,
    agentTaskQueue: values.ASSAY_AGENT_TASK_QUEUE ?? values.ASSAY_TASK_QUEUE,
    judgeTaskQueue: values.ASSAY_JUDGE_TASK_QUEUE ?? values.ASSAY_TASK_QUEUE,
    maxActivities: values.ASSAY_MAX_ACTIVITIES,
    heartbeatTimeoutMs: values.ASSAY_HEARTBEAT_TIMEOUT_MS,
    shardSize: values.ASSAY_SHARD_SIZE,
    shardWindow: values.ASSAY_SHARD_WINDOW,
    endpointGraceMs: values.ASSAY_ENDPOINT_GRACE_MS,
    serveToken: values.ASSAY_SERVE_TOKEN,
    logLevel: values.ASSAY_LOG_LEVEL,
    openaiApiKey: values.OPENAI_API_KEY,
    openaiBaseUrl: values.OPENAI_BASE_URL,
    hostName: hostname(),
    cacheFolder: cacheFolder(env),
    env,
  });
}
