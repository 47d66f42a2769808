import { realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ConnectionOptions } from '@temporalio/client';
import { searchPath, type Env } from './env.ts';
import { accepts } from './ports.ts';
import { spawnDetached, type DetachedProcess } from './detached-process.ts';
import { describeServerFailure } from './system-error.ts';
import { findByArgument, type ProcessIdentity } from './process-identity.ts';
import { stopProcess } from './stop-process.ts';
import { waitFor } from './wait.ts';

const START_TIMEOUT_MS = 60_000;

/**
 * Dynamic configuration of the embedded server: one partition a queue and eager activities (twice to three times the
 * throughput on two cores), and request limits that one machine's evaluations do not meet.
 */
export const DYNAMIC_CONFIG: Readonly<Record<string, string>> = {
  'matching.numTaskqueueReadPartitions': '1',
  'matching.numTaskqueueWritePartitions': '1',
  'system.enableActivityEagerExecution': 'true',
  'frontend.rps': '20000',
  'frontend.namespaceRPS': '20000',
  'frontend.namespaceRPS.visibility': '500',
  'frontend.namespaceCount': '5000',
  'matching.rps': '20000',
  'history.rps': '20000',
};

/** Where the embedded server keeps its data. */
export function temporalDataFile(home: string): string {
  return join(realpathSync(home), 'temporal.db');
}

/** The server of this data file that runs without our having recorded it; null when there is none. */
export function findTemporalServer(dataFile: string): ProcessIdentity | null {
  return findByArgument(dataFile)[0] ?? null;
}

export interface TemporalLaunch {
  home: string;
  binary: string;
  dataFile: string;
  port: number;
  uiPort: number;
  env: Env;
  log: (line: string) => void;
  signal?: AbortSignal | undefined;
}

/** Starts the embedded server and waits until its `default` namespace answers. Call it under the stack's lock. */
export async function startTemporal(launch: TemporalLaunch): Promise<ProcessIdentity> {
  const logFile = join(launch.home, 'logs', 'temporal.log');
  const started = await spawnDetached({
    command: launch.binary,
    args: serverArguments(launch),
    env: serverEnvironment(launch),
    cwd: dirname(launch.dataFile),
    logFile,
    user: null,
  });
  try {
    await waitUntilHealthy(launch, started, logFile);
  } catch (error) {
    if (started.ended() === null) await stopTemporal(started.identity);
    throw describeServerFailure(error, started.lastLines(), launch.dataFile);
  }
  return started.identity;
}

async function waitUntilHealthy(launch: TemporalLaunch, started: DetachedProcess, logFile: string): Promise<void> {
  await waitForTemporal({
    connectionOptions: { address: `127.0.0.1:${launch.port}` },
    address: `127.0.0.1:${launch.port}`,
    namespace: 'default',
    log: launch.log,
    hint:
      `See ${logFile}, or set TEMPORAL_ADDRESS to a Temporal of your own. If it cannot open its data (another version ` +
      `of the CLI wrote it), remove ${launch.dataFile}*: results are in Postgres, and \`assay resume\` goes on from there.`,
    timeoutMs: START_TIMEOUT_MS,
    signal: launch.signal,
    gaveUp: () => {
      const reason = started.ended();
      return reason === null ? null : `${reason}\n${started.lastLines()}`;
    },
  });
}

/** Asks it to end (a second at most) and waits. */
export async function stopTemporal(identity: ProcessIdentity): Promise<void> {
  await stopProcess(identity, 'SIGTERM', 10_000);
}

function serverArguments(launch: TemporalLaunch): string[] {
  const dynamic = Object.entries(DYNAMIC_CONFIG).flatMap(([key, value]) => [
    '--dynamic-config-value',
    `${key}=${value}`,
  ]);
  // Without these two SQLite flushes to the disk at every commit: a tenth of the throughput.
  const pragmas = ['--sqlite-pragma', 'journal_mode=WAL', '--sqlite-pragma', 'synchronous=NORMAL'];
  const ports = ['--ip', '127.0.0.1', '--port', String(launch.port), '--ui-port', String(launch.uiPort)];
  const settings = ['--log-level', 'error', '--disable-config-file', '--disable-config-env'];
  return ['server', 'start-dev', ...ports, '--db-filename', launch.dataFile, ...pragmas, ...settings, ...dynamic];
}

/** Nothing of the caller's environment but paths: keys must not reach a long-lived process. */
function serverEnvironment(launch: TemporalLaunch): Record<string, string> {
  return { PATH: searchPath(launch.env) ?? '/usr/local/bin:/usr/bin:/bin', HOME: launch.home, TZ: 'UTC' };
}

export interface TemporalWait {
  connectionOptions: ConnectionOptions;
  address: string;
  namespace: string;
  log: (line: string) => void;
  /** How to mend it, for the error. */
  hint: string;
  /** Bound in milliseconds. */
  timeoutMs: number;
  gaveUp?: () => string | null;
  signal?: AbortSignal | undefined;
}

/**
 * Waits until Temporal answers for the namespace (fault R16): bounded, and says what it waits for.
 * @throws UserError exit code 4
 */
export async function waitForTemporal(wait: TemporalWait): Promise<void> {
  await waitFor({
    what: `Temporal at ${wait.address}`,
    probe: () => probeTemporal(wait.connectionOptions, wait.namespace),
    timeoutMs: wait.timeoutMs,
    intervalMs: 25,
    log: wait.log,
    hint: wait.hint,
    signal: wait.signal,
    ...(wait.gaveUp === undefined ? {} : { gaveUp: wait.gaveUp }),
  });
}

/** Does Temporal answer for this namespace? null, or why not. Never waits longer than about five seconds. */
export async function probeTemporal(connectionOptions: ConnectionOptions, namespace: string): Promise<string | null> {
  const { host, port } = hostAndPort(connectionOptions.address ?? '');
  // A cheap look first: gRPC waits longer and longer between its own attempts.
  if (!(await accepts(host, port))) return 'nothing accepts connections there';
  const { Connection } = await import('@temporalio/client');
  let connection;
  try {
    connection = await Connection.connect({ ...connectionOptions, connectTimeout: '3s' });
    const open = connection;
    await open.withDeadline(Date.now() + 3000, () => open.workflowService.describeNamespace({ namespace }));
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    await connection?.close();
  }
}

/** `host:port`, `[v6]:port` or a URL; the port defaults to 7233. */
export function hostAndPort(address: string): { host: string; port: number } {
  const url = new URL(address.includes('://') ? address : `tcp://${address}`);
  return { host: url.hostname.replace(/^\[|\]$/g, ''), port: url.port === '' ? 7233 : Number(url.port) };
}
