import { Client, StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client';
import { MissingVariableError, ModelError, type ModelErrorKind, UserError } from '../../core/errors.ts';
import { installedPackage } from '../../core/installed-package.ts';
import type { McpServerConfig } from '../../core/suite.ts';
import { commandEnvironment, passedSecrets } from '../command/command-environment.ts';
import { type CommandProcess, startCommandProcess } from '../command/command-process.ts';
import { findProgram } from '../command/find-program.ts';
import { createGuardedFetch } from '../guarded-http/guarded-fetch.ts';
import { withoutKey } from '../mask-key.ts';
import { abortError, untilAborted } from '../sleep.ts';
import { startTimeCap } from '../time-cap.ts';
import { createOutputValidator } from './output-validator.ts';
import { createProcessTransport } from './process-transport.ts';

export interface ConnectOptions {
  /** Environment the names in `env` and `token_env` are looked up in. */
  env: Readonly<Record<string, string | undefined>>;
  /** Absolute folder of the suite file: a stdio server runs there. */
  suiteRoot: string;
  signal: AbortSignal;
  /** Where the suite names the server, for messages: `mcp[0]`. */
  key: string;
}

/** A program that ended before it spoke the protocol: most often a wrong command or script. */
export class ServerEndedError extends ModelError {}

/** A server that is connected for one trial. */
export interface McpConnection {
  client: Client;
  /** What a failed exchange means for a reader, without secrets. */
  explain(error: unknown): string;
  /** What the server was trusted with: it must not be stored, should the server repeat it. */
  secrets: readonly string[];
  /** True once the server has gone. */
  gone(): boolean;
  close(): Promise<void>;
}

/** Bytes of one reply of an HTTP server, and of all output of a stdio server in one trial. */
const MAX_BYTES = 64 * 1024 * 1024;
/** How long a server may take to start and to say what it offers, milliseconds. */
const START_MS = 30_000;
/** How long an old server, which does not know the newer handshake, may leave it unanswered, milliseconds. */
const PROBE_MS = 3_000;

/** How long a server may take to hear that its session is over, milliseconds: a cancel must end within a second. */
const LEAVE_MS = 500;

interface Reply {
  status: number;
  /** The media type alone, in small letters; empty = none. */
  type: string;
}

interface Link {
  transport: Transport;
  /** The last reply of an HTTP server; null before the first, and where a request got none. */
  lastReply(): Reply | null;
  /** Tells the server that the session is over. */
  leave(): Promise<void>;
  secrets: string[];
  process: CommandProcess | null;
}

/**
 * Connects to a server, whichever version of the protocol it speaks.
 * @throws UserError when its program or variable does not exist, or its address is blocked; ModelError when it does not
 * answer (`server_error`), or refuses in a way every trial would meet
 */
export async function connectServer(config: McpServerConfig, options: ConnectOptions): Promise<McpConnection> {
  const link = config.url === undefined ? commandLink(config, options) : httpLink(config, config.url, options);
  const { version } = installedPackage();
  const client = new Client(
    { name: 'assay', version },
    {
      versionNegotiation: { mode: 'auto', probe: { timeoutMs: PROBE_MS } },
      jsonSchemaValidator: createOutputValidator(),
    },
  );
  let gone = false;
  client.onclose = () => {
    gone = true;
  };
  let ended = false;
  void link.process?.ended.then(() => {
    ended = true;
  });
  const explain = (error: unknown): string =>
    link.secrets.reduce((text, secret) => withoutKey(text, secret), explanation(config, link, error));
  const close = async (): Promise<void> => {
    if (!gone) await leave(link);
    // A server that is gone has nothing to close, and one that refuses to is killed with its process.
    await client.close().catch(() => undefined);
    await link.process?.kill();
  };
  try {
    await client.connect(link.transport, { signal: options.signal, timeout: START_MS });
  } catch (error) {
    const endedFirst = ended;
    await close();
    if (options.signal.aborted) throw abortError(options.signal);
    const blocked = causesOf(error).find((cause) => cause instanceof UserError);
    if (blocked !== undefined) throw blocked;
    const reply = link.lastReply();
    const { kind, remedy } = causesOf(error).some(isWrongAddress)
      ? { kind: 'invalid_endpoint' as const, remedy: ` Check ${options.key}.url.` }
      : refusalOf(config, reply, options.key);
    const message = `MCP server ${config.name} cannot be used: ${explain(error)}${remedy}`;
    throw endedFirst
      ? new ServerEndedError(kind, message, { cause: error })
      : new ModelError(kind, message, { cause: error, status: reply?.status ?? null });
  }
  return { client, explain, secrets: link.secrets, gone: () => gone, close };
}

/** What a server that cannot be connected to means for the other trials, and what the user can do. */
function refusalOf(
  config: McpServerConfig,
  reply: Reply | null,
  key: string,
): { kind: ModelErrorKind; remedy: string } {
  if (config.url === undefined) return { kind: 'server_error', remedy: '' };
  const variable = config.token_env === undefined ? `${key}.token_env` : `${config.token_env} (${key}.token_env)`;
  const status = reply?.status ?? null;
  if (status === 401) {
    const set = config.token_env === undefined ? 'Name the variable that holds its token in' : 'Set a valid token in';
    return { kind: 'unauthorized', remedy: `. ${set} ${variable}.` };
  }
  if (status === 403) return { kind: 'forbidden', remedy: `. It may not be used with the token of ${variable}.` };
  if (reply !== null && (WRONG_ADDRESS.has(reply.status) || isPage(reply))) {
    return { kind: 'invalid_endpoint', remedy: `: status ${status}. Check ${key}.url.` };
  }
  return { kind: 'server_error', remedy: `. Check that it runs, and that ${key}.url is its address.` };
}

/** Nothing that takes a request is at the address. */
const WRONG_ADDRESS: ReadonlySet<number> = new Set([404, 405, 410]);

/** Something answers well, but with what no MCP server does: a web page, most often. */
function isPage({ status, type }: Reply): boolean {
  return status === 200 && type !== 'application/json' && type !== 'text/event-stream';
}

/** A redirect that cannot be followed. */
function isWrongAddress(error: Error): boolean {
  return error instanceof ModelError && error.kind === 'invalid_endpoint';
}

/** The error and what caused it, outermost first. */
function causesOf(error: unknown): Error[] {
  return error instanceof Error ? [error, ...causesOf(error.cause)] : [];
}

/** Servers of the older protocol hold a session until they are told. */
async function leave(link: Link): Promise<void> {
  const late = startTimeCap(new AbortController().signal, LEAVE_MS);
  // A server that does not take it, or is gone, is left all the same.
  await untilAborted(link.leave(), late.signal).catch(() => undefined);
  late.dispose();
}

function commandLink(config: McpServerConfig, { env, suiteRoot, key }: ConnectOptions): Link {
  const passed = { pass_env: config.env ?? [] };
  const program = findProgram(config.command ?? '', { cwd: suiteRoot, env, key: `${key}.command` });
  const process = startCommandProcess({
    program,
    args: config.args ?? [],
    cwd: suiteRoot,
    env: commandEnvironment(env, passed, `${key}.env`),
    maxBytes: MAX_BYTES,
  });
  const transport = createProcessTransport(process);
  const secrets = passedSecrets(env, passed);
  return { transport, lastReply: () => null, leave: () => Promise.resolve(), secrets, process };
}

function httpLink(config: McpServerConfig, url: string, { env, key }: ConnectOptions): Link {
  const token = config.token_env === undefined ? null : (env[config.token_env]?.trim() ?? '');
  if (token === '') {
    throw new MissingVariableError(
      `${key}.token_env names ${config.token_env}, which is not set`,
      `It holds the bearer token for server ${config.name}.`,
    );
  }
  const guarded = createGuardedFetch({
    typed: new URL(url),
    allowPrivate: false,
    trustTyped: true,
    maxBytes: MAX_BYTES,
    authorization: token === null ? null : `Bearer ${token}`,
  });
  let reply: Reply | null = null;
  const fetch: typeof guarded = async (input, init) => {
    reply = null;
    const response = await guarded(input, init);
    const [type = ''] = (response.headers.get('content-type') ?? '').split(';');
    reply = { status: response.status, type: type.trim().toLowerCase() };
    return response;
  };
  const transport = new StreamableHTTPClientTransport(new URL(url), { fetch });
  return {
    transport,
    lastReply: () => reply,
    leave: () => transport.terminateSession(),
    secrets: token === null ? [] : [token],
    process: null,
  };
}

function explanation(config: McpServerConfig, { process }: Link, error: unknown): string {
  const words = lastWords(process?.stderr() ?? '');
  const last = words === '' ? '' : `; it last printed: ${words}`;
  return `${innermostMessage(error)}${config.url === undefined ? '' : ` (${addressOf(config.url)})`}${last}`;
}

/** Without what may hold a secret. */
function addressOf(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}

/** The innermost message says what happened; outer ones say that something did. */
function innermostMessage(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error && error.cause.message !== '' ? innermostMessage(error.cause) : error.message;
}

/** Most characters of what a server printed that a message repeats. */
const LAST_WORDS = 500;

/** The end of what a server printed, without stack frames; the line that names an error first, where that would be cut. */
function lastWords(stderr: string): string {
  const lines = stderr.split('\n').filter((line) => line.trim() !== '' && !/^\s+at /.test(line));
  const text = lines.join('\n').trim();
  if (text.length <= LAST_WORDS) return text;
  const end = text.slice(-LAST_WORDS);
  const named = lines.findLast((line) => /^\S*(Error|Exception)\b/.test(line))?.slice(0, LAST_WORDS);
  return named === undefined || end.includes(named) ? end : `${named} … ${end}`;
}
