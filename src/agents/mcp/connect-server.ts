import { Client, StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client';
import { ModelError, UserError } from '../../core/errors.ts';
import { installedPackage } from '../../core/installed-package.ts';
import type { McpServerConfig } from '../../core/suite.ts';
import { commandEnvironment, passedSecrets } from '../command/command-environment.ts';
import { type CommandProcess, startCommandProcess } from '../command/command-process.ts';
import { findProgram } from '../command/find-program.ts';
import { createGuardedFetch } from '../guarded-http/guarded-fetch.ts';
import { withoutKey } from '../mask-key.ts';
import { abortError, untilAborted } from '../sleep.ts';
import { startTimeCap } from '../time-cap.ts';
import { createProcessTransport } from './process-transport.ts';

export interface ConnectOptions {
  /** Environment the names in `env` and `token_env` are looked up in. */
  env: Readonly<Record<string, string | undefined>>;
  /** Absolute folder of the suite file: a stdio server runs there. */
  suiteRoot: string;
  signal: AbortSignal;
}

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

interface Link {
  transport: Transport;
  /** Tells the server that the session is over. */
  leave(): Promise<void>;
  secrets: string[];
  process: CommandProcess | null;
}

/**
 * Connects to a server, whichever version of the protocol it speaks.
 * @throws UserError when its program or variable does not exist; ModelError (`server_error`) when it does not answer
 */
export async function connectServer(config: McpServerConfig, options: ConnectOptions): Promise<McpConnection> {
  const link = config.url === undefined ? commandLink(config, options) : httpLink(config, config.url, options);
  const { version } = installedPackage();
  const client = new Client(
    { name: 'assay', version },
    { versionNegotiation: { mode: 'auto', probe: { timeoutMs: PROBE_MS } } },
  );
  let gone = false;
  client.onclose = () => {
    gone = true;
  };
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
    await close();
    if (options.signal.aborted) throw abortError(options.signal);
    throw new ModelError('server_error', `MCP server ${config.name} cannot be used: ${explain(error)}`, {
      cause: error,
    });
  }
  return { client, explain, secrets: link.secrets, gone: () => gone, close };
}

/** Servers of the older protocol hold a session until they are told. */
async function leave(link: Link): Promise<void> {
  const late = startTimeCap(new AbortController().signal, LEAVE_MS);
  // A server that does not take it, or is gone, is left all the same.
  await untilAborted(link.leave(), late.signal).catch(() => undefined);
  late.dispose();
}

function commandLink(config: McpServerConfig, { env, suiteRoot }: ConnectOptions): Link {
  const passed = { pass_env: config.env ?? [] };
  const program = findProgram(config.command ?? '', suiteRoot, env);
  const process = startCommandProcess({
    program,
    args: config.args ?? [],
    cwd: suiteRoot,
    env: commandEnvironment(env, passed),
    maxBytes: MAX_BYTES,
  });
  const transport = createProcessTransport(process);
  return { transport, leave: () => Promise.resolve(), secrets: passedSecrets(env, passed), process };
}

function httpLink(config: McpServerConfig, url: string, { env }: ConnectOptions): Link {
  const token = config.token_env === undefined ? null : (env[config.token_env]?.trim() ?? '');
  if (token === '') {
    throw new UserError(`mcp: the variable ${config.token_env} of server ${config.name} is not set`, {
      hint: 'Every worker needs it: it holds the bearer token.',
    });
  }
  const fetch = createGuardedFetch({
    typed: new URL(url),
    allowPrivate: false,
    trustTyped: true,
    maxBytes: MAX_BYTES,
    authorization: token === null ? null : `Bearer ${token}`,
  });
  const transport = new StreamableHTTPClientTransport(new URL(url), { fetch });
  return {
    transport,
    leave: () => transport.terminateSession(),
    secrets: token === null ? [] : [token],
    process: null,
  };
}

function explanation(config: McpServerConfig, { process }: Link, error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const stderr = process?.stderr().trim() ?? '';
  const last = stderr === '' ? '' : `; it last printed: ${stderr.slice(-500)}`;
  return `${message}${config.url === undefined ? '' : ` (${new URL(config.url).origin})`}${last}`;
}
