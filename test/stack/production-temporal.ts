import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Connection } from '@temporalio/client';
import { stringify } from 'yaml';
import { cacheFolder } from '../../src/core/cache-folder.ts';
import { executable, findOnPath } from '../../src/local/find-temporal.ts';
import { goInstall } from '../../src/local/install-temporal.ts';
import { withLock } from '../../src/local/lock.ts';
import { tailOfLog } from '../../src/local/detached-process.ts';
import { ensureSearchAttributes } from '../../src/local/search-attributes.ts';
import { accepts, choosePort } from '../../src/local/ports.ts';
import { waitFor } from '../../src/local/wait.ts';
import { waitForTemporal } from '../../src/local/temporal-server.ts';

export const TEMPORAL_SERVER_VERSION = 'v1.29.1';

export interface ProductionTemporalOptions {
  /** Administrator's address of a Postgres; databases `temporal` and `temporal_visibility` are created in it. */
  databaseUrl: string;
  /** Folder for the configuration and the log; the same folder again means the same ports and data. */
  workDir: string;
  log: (line: string) => void;
}

export interface ProductionTemporal {
  /** `127.0.0.1:PORT`; the namespace is `default`. */
  address: string;
  pid: number;
  /** SIGTERM and wait. */
  stop(): Promise<void>;
  /** SIGKILL and wait. */
  kill(): Promise<void>;
}

/**
 * Starts the production Temporal server (all four services in one process) with its data in Postgres, as
 * docker-compose.yml does with containers. The binaries are built with Go into the cache once (minutes).
 */
export async function startProductionTemporal(options: ProductionTemporalOptions): Promise<ProductionTemporal> {
  const binaries = await installProductionServer(options.log);
  mkdirSync(options.workDir, { recursive: true });
  const ports = await choosePorts(options.workDir);
  await setUpSchema(binaries.sql, options.databaseUrl);
  writeConfig(options, ports);
  const logFile = join(options.workDir, 'temporal-server.log');
  const child = launch(binaries.server, options.workDir, logFile);
  const address = `127.0.0.1:${ports.frontend}`;
  const stop = (signal: NodeJS.Signals): Promise<void> => end(child, signal);
  try {
    await register(address, child, logFile, options.log);
  } catch (error) {
    await stop('SIGKILL');
    throw error;
  }
  return { address, pid: child.pid ?? 0, stop: () => stop('SIGTERM'), kill: () => stop('SIGKILL') };
}

interface Binaries {
  server: string;
  sql: string;
}

/** Builds server and schema tool into the cache, where they are not there. Two processes share one build. */
export async function installProductionServer(log: (line: string) => void): Promise<Binaries> {
  const folder = join(cacheFolder(process.env), 'temporal-server', TEMPORAL_SERVER_VERSION);
  const binaries = { server: join(folder, executable('server')), sql: join(folder, executable('sql')) };
  mkdirSync(folder, { recursive: true });
  await withLock(
    join(folder, 'lock'),
    { what: 'the build of the Temporal server', log, timeoutMs: 900_000 },
    async () => {
      for (const [name, source] of [
        ['server', 'go.temporal.io/server/cmd/server'],
        ['sql', 'go.temporal.io/server/cmd/tools/sql'],
      ] as const) {
        if (existsSync(binaries[name])) continue;
        const go = findOnPath('go', process.env);
        if (go === null) throw new Error(`Go is needed once to build ${source}; install it and put it on PATH`);
        log(`building ${source}@${TEMPORAL_SERVER_VERSION} (minutes, once)`);
        await goInstall(go, `${source}@${TEMPORAL_SERVER_VERSION}`, folder, process.env);
      }
    },
  );
  return binaries;
}

const PORT_NAMES = ['frontend', 'matching', 'history', 'worker', 'http'] as const;
const SERVICES = ['frontend', 'matching', 'history', 'worker'] as const;
type Ports = Record<string, number>;

/** All below 32,768: the server stores a membership port as smallint and ends when it does not fit. */
async function choosePorts(workDir: string): Promise<Ports> {
  const path = join(workDir, 'ports.json');
  if (existsSync(path)) return JSON.parse(readFileSync(path, 'utf8')) as Ports;
  const ports: Ports = {};
  const names = [...PORT_NAMES, ...SERVICES.map((service) => `${service}Membership`)];
  for (const name of names) {
    const avoid = new Set(Object.values(ports));
    const seed = `${workDir} ${name}`;
    ports[name] = await choosePort({ what: `Temporal ${name}`, required: null, remembered: null, seed, avoid });
  }
  writeFileSync(path, JSON.stringify(ports));
  return ports;
}

const DATABASES = [
  { name: 'temporal', schema: 'postgresql/v12/temporal' },
  { name: 'temporal_visibility', schema: 'postgresql/v12/visibility' },
] as const;

/** Idempotent: a database that exists is updated to the latest schema. */
async function setUpSchema(sql: string, databaseUrl: string): Promise<void> {
  const url = new URL(databaseUrl);
  for (const database of DATABASES) {
    const tool = async (...args: string[]): Promise<string> => {
      const { stdout, stderr } = await promisify(execFile)(sql, args, {
        timeout: 120_000,
        env: {
          SQL_PLUGIN: 'postgres12',
          SQL_HOST: url.hostname,
          SQL_PORT: url.port,
          SQL_USER: decodeURIComponent(url.username),
          SQL_PASSWORD: decodeURIComponent(url.password),
          SQL_DATABASE: database.name,
        },
      });
      return stdout + stderr;
    };
    // A second `create-database` is answered with success; a second set-up with an error that says so.
    await tool('create-database');
    await tool('setup-schema', '--version', '0.0');
    await tool('update-schema', '--schema-name', database.schema);
  }
}

function writeConfig(options: ProductionTemporalOptions, ports: Ports): void {
  const folder = join(options.workDir, 'config');
  mkdirSync(folder, { recursive: true });
  const dynamic = join(folder, 'dynamic.yaml');
  writeFileSync(dynamic, stringify({ 'system.enableActivityEagerExecution': [{ value: true }] }));
  const service = (name: string): object => ({
    rpc: {
      grpcPort: ports[name],
      membershipPort: ports[`${name}Membership`],
      bindOnLocalHost: true,
      ...(name === 'frontend' ? { httpPort: ports['http'] } : {}),
    },
  });
  const config = {
    log: { stdout: true, level: 'warn' },
    persistence: {
      defaultStore: 'default',
      visibilityStore: 'visibility',
      numHistoryShards: 4,
      datastores: {
        default: store(options.databaseUrl, 'temporal', 20),
        visibility: store(options.databaseUrl, 'temporal_visibility', 5),
      },
    },
    global: { membership: { maxJoinDuration: '30s', broadcastAddress: '127.0.0.1' } },
    services: Object.fromEntries(SERVICES.map((name) => [name, service(name)])),
    clusterMetadata: {
      enableGlobalNamespace: false,
      failoverVersionIncrement: 10,
      masterClusterName: 'active',
      currentClusterName: 'active',
      clusterInformation: {
        active: {
          enabled: true,
          initialFailoverVersion: 1,
          rpcName: 'frontend',
          rpcAddress: `localhost:${ports['frontend']}`,
        },
      },
    },
    dcRedirectionPolicy: { policy: 'noop' },
    dynamicConfigClient: { filepath: dynamic, pollInterval: '10s' },
  };
  // It holds the password of the database.
  writeFileSync(join(folder, 'assay.yaml'), stringify(config), { mode: 0o600 });
}

function store(databaseUrl: string, databaseName: string, connections: number): object {
  const url = new URL(databaseUrl);
  return {
    sql: {
      pluginName: 'postgres12',
      databaseName,
      connectAddr: url.host,
      connectProtocol: 'tcp',
      user: decodeURIComponent(url.username),
      password: decodeURIComponent(url.password),
      maxConns: connections,
      maxIdleConns: connections,
      maxConnLifetime: '1h',
    },
  };
}

function launch(server: string, workDir: string, logFile: string): ChildProcess {
  const descriptor = openSync(logFile, 'a');
  try {
    return spawn(server, ['--root', workDir, '--config', 'config', '--env', 'assay', '--allow-no-auth', 'start'], {
      stdio: ['ignore', descriptor, descriptor],
      env: { PATH: process.env['PATH'], HOME: workDir },
    });
  } finally {
    closeSync(descriptor);
  }
}

/** Creates the namespace (kept by a restart) and the search attributes. */
async function register(
  address: string,
  child: ChildProcess,
  logFile: string,
  log: (line: string) => void,
): Promise<void> {
  const gaveUp = (): string | null =>
    child.exitCode === null && child.signalCode === null ? null : `it ended:\n${tailOfLog(logFile, 20)}`;
  const hint = `see ${logFile}`;
  const [host = '', port] = address.split(':');
  const listening = async (): Promise<string | null> => ((await accepts(host, Number(port))) ? null : 'not listening');
  await waitFor({ what: `the Temporal server at ${address}`, probe: listening, timeoutMs: 90_000, log, hint, gaveUp });
  const connection = await Connection.connect({ address, connectTimeout: '30s' });
  try {
    await waitFor({
      what: 'the namespace',
      probe: () => registerNamespace(connection),
      timeoutMs: 60_000,
      intervalMs: 200,
      log,
      hint,
      gaveUp,
    });
    const connectionOptions = { address };
    await waitForTemporal({ connectionOptions, address, namespace: 'default', log, hint, timeoutMs: 60_000, gaveUp });
    // A new namespace reaches the caches of all services within seconds.
    await waitFor({
      what: 'the search attributes',
      probe: () => ensureSearchAttributes(connection, 'default').then(() => null, String),
      timeoutMs: 60_000,
      intervalMs: 500,
      log,
      hint,
      gaveUp,
    });
  } finally {
    await connection.close();
  }
}

async function registerNamespace(connection: Connection): Promise<string | null> {
  const request = { namespace: 'default', workflowExecutionRetentionPeriod: { seconds: LONG_DAY } };
  try {
    await connection.workflowService.registerNamespace(request);
    return null;
  } catch (error) {
    // ALREADY_EXISTS
    if (error instanceof Error && 'code' in error && error.code === 6) return null;
    return String(error);
  }
}

/** 24 hours as the protobuf library's 64-bit integer. */
const LONG_DAY = { low: 86_400, high: 0, unsigned: false } as never;

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.kill(signal);
  const killer = setTimeout(() => child.kill('SIGKILL'), 20_000);
  await exited;
  clearTimeout(killer);
}
