import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { EXIT, UserError } from '../core/errors.ts';
import { probeDatabase, tryEnsureDatabase } from '../db/ensure-database.ts';
import { describeFileError, describeServerFailure, hasCode } from './system-error.ts';
import { spawnDetached, type DetachedProcess } from './detached-process.ts';
import {
  findByArgument,
  findByWorkingFolder,
  identifyProcess,
  signalProcess,
  type ProcessIdentity,
} from './process-identity.ts';
import { findPostgresBinaries, type PostgresPlace } from './postgres-place.ts';
import { stopProcess } from './stop-process.ts';
import { waitFor, type Clock } from './wait.ts';

const USER = 'assay';
const DATABASE = 'assay';
/** Long, because after a kill it first replays what it had not yet written to its tables. */
const START_TIMEOUT_MS = 120_000;

/**
 * Settings for a small machine. fsync and full_page_writes are off: the operating system still has every commit when
 * Postgres or Assay is killed, so nothing is lost then; only a power cut or a crash of the machine can damage the
 * data (docs/deployment.md says so). synchronous_commit stays on, because without it a kill loses commits.
 */
const SETTINGS: Readonly<Record<string, string>> = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '200',
  shared_buffers: '128MB',
  fsync: 'off',
  full_page_writes: 'off',
  synchronous_commit: 'on',
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_wal_size: '2GB',
  jit: 'off',
  timezone: 'UTC',
  log_min_messages: 'warning',
};

/** Address of the embedded database. The password is generated once and kept in `home/postgres-password` (0600). */
export function embeddedDatabaseUrl(home: string, port: number): string {
  return `postgresql://${USER}:${readPassword(home)}@127.0.0.1:${port}/${DATABASE}`;
}

function passwordPath(home: string): string {
  return join(home, 'postgres-password');
}

function readPassword(home: string): string {
  try {
    return readFileSync(passwordPath(home), 'utf8').trim();
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw describeFileError(error, passwordPath(home));
    throw new UserError(`${passwordPath(home)} is missing, so the data of the embedded Postgres cannot be opened.`, {
      exitCode: EXIT.infrastructure,
      hint: `Put the file back, or remove ${join(home, 'postgres')} to start with an empty database (all results are lost).`,
      cause: error,
    });
  }
}

/** Can this database be used now? null, or why not. Never waits longer than two seconds. */
export async function probePostgres(home: string, port: number): Promise<string | null> {
  return probeDatabase(embeddedDatabaseUrl(home, port));
}

/**
 * The postmaster that runs on this data folder without our having recorded it (its parent was killed right after
 * starting it); null when there is none.
 */
export function findPostmaster(dataDir: string): { identity: ProcessIdentity; port: number } | null {
  let lines: string[];
  try {
    lines = readFileSync(join(dataDir, 'postmaster.pid'), 'utf8').split('\n');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null;
    throw describeFileError(error, dataDir);
  }
  const identity = identifyProcess(Number(lines[0]));
  const port = Number(lines[3]);
  if (identity === null || !Number.isInteger(port)) return null;
  // The pid may have been given to another process since: only one that was started on this folder counts.
  const ours = process.platform === 'win32' || findByArgument(dataDir).some((other) => other.pid === identity.pid);
  return ours ? { identity, port } : null;
}

interface StartOptions {
  log: (line: string) => void;
  /** Gives the start up when it is aborted. */
  signal?: AbortSignal | undefined;
}

/** Starts Postgres on its data folder (created on first use) and waits until it answers. Call it under the stack's lock. */
export async function startPostgres(
  home: string,
  place: PostgresPlace,
  port: number,
  { log, signal }: StartOptions,
): Promise<ProcessIdentity> {
  await createCluster(home, place, { log, signal });
  const logFile = join(home, 'logs', 'postgres.log');
  const deadline = performance.now() + START_TIMEOUT_MS;
  for (;;) {
    clearLeftovers(place.dataDir);
    const started = await launch(place, port, logFile);
    try {
      await waitUntilReady(home, port, started, { logFile, log, signal });
      await waitForDatabase(embeddedDatabaseUrl(home, port), { logFile, log, signal });
    } catch (error) {
      if (started.ended() === null) await stopProcess(started.identity, 'SIGINT', 5000);
      // Backends of a killed server hold its shared memory for a moment; then a new one refuses to start.
      const said = started.lastLines();
      if (performance.now() < deadline && said.includes('shared memory block')) {
        await sleep(100);
        continue;
      }
      throw describeServerFailure(error, said, place.dataDir);
    }
    return started.identity;
  }
}

/**
 * Waits until the server has the database that the address names: a busy machine answers late, and is asked again.
 * @throws UserError (exit 4) when it does not in time.
 */
export async function waitForDatabase(
  databaseUrl: string,
  wait: StartOptions & { logFile: string; clock?: Clock },
): Promise<void> {
  const { port } = new URL(databaseUrl);
  await waitFor({
    what: `the database of Postgres at 127.0.0.1:${port}`,
    probe: () => tryEnsureDatabase(databaseUrl),
    timeoutMs: START_TIMEOUT_MS,
    log: wait.log,
    signal: wait.signal,
    hint: `The machine may be too busy; try again. See ${wait.logFile}, or set DATABASE_URL to a Postgres of your own.`,
    ...(wait.clock === undefined ? {} : { clock: wait.clock }),
  });
}

async function launch(place: PostgresPlace, port: number, logFile: string): Promise<DetachedProcess> {
  const settings = Object.entries(SETTINGS).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  return spawnDetached({
    command: join(place.binDir, 'postgres'),
    args: ['-D', place.dataDir, '-p', String(port), ...settings],
    env: serverEnvironment(place),
    cwd: place.dataDir,
    logFile,
    user: place.user,
  });
}

async function waitUntilReady(
  home: string,
  port: number,
  started: DetachedProcess,
  { logFile, log, signal }: StartOptions & { logFile: string },
): Promise<void> {
  await waitFor({
    what: `Postgres at 127.0.0.1:${port}`,
    probe: () => probePostgres(home, port),
    timeoutMs: START_TIMEOUT_MS,
    intervalMs: 25,
    log,
    signal,
    hint: `See ${logFile}, or set DATABASE_URL to a Postgres of your own.`,
    gaveUp: () => {
      const reason = started.ended();
      return reason === null ? null : `${reason}\n${started.lastLines()}`;
    },
  });
}

/** Fast shutdown: running transactions are rolled back, data is written, then it ends. */
export async function stopPostgres(identity: ProcessIdentity, dataDir: string): Promise<void> {
  // On Windows every signal kills; pg_ctl asks through a named pipe.
  if (process.platform === 'win32') await stopByPgCtl(dataDir);
  await stopProcess(identity, 'SIGINT', 60_000);
}

/** Where it fails (the server hangs) the kill that follows is what is left. */
async function stopByPgCtl(dataDir: string): Promise<void> {
  const command = join(findPostgresBinaries().binDir, 'pg_ctl');
  const args = ['stop', '-D', dataDir, '-m', 'fast', '-w', '-t', '60'];
  await promisify(execFile)(command, args, { windowsHide: true, timeout: 70_000 }).catch(() => undefined);
}

/**
 * After a kill: the pid file names a dead process (or one that has its pid now), and backends may linger, working in
 * the data folder. Both would keep a new server from starting.
 */
function clearLeftovers(dataDir: string): void {
  if (findPostmaster(dataDir) !== null) return;
  rmSync(join(dataDir, 'postmaster.pid'), { force: true });
  for (const backend of findByWorkingFolder(dataDir)) signalProcess(backend, 'SIGQUIT');
}

async function createCluster(home: string, place: PostgresPlace, { log, signal }: StartOptions): Promise<void> {
  if (existsSync(place.dataDir)) return checkVersion(place);
  log('creating the Postgres data folder');
  const password = randomBytes(18).toString('base64url');
  // Written beside and renamed at the end, so that an interrupted initdb leaves nothing that looks finished.
  const draft = `${place.dataDir}.new`;
  const passwordFile = `${place.dataDir}.password`;
  try {
    rmSync(draft, { recursive: true, force: true });
    rmSync(passwordFile, { force: true });
    mkdirSync(draft, { recursive: true, mode: 0o700 });
    writeFileSync(passwordFile, password, { mode: 0o600 });
    if (place.user !== null) {
      chownSync(draft, place.user.uid, place.user.gid);
      chownSync(passwordFile, place.user.uid, place.user.gid);
    }
    await runInitdb(place, draft, passwordFile, signal);
    writeFileSync(passwordPath(home), `${password}\n`, { mode: 0o600 });
    renameSync(draft, place.dataDir);
  } catch (error) {
    throw describeFileError(error, place.dataDir);
  } finally {
    rmSync(passwordFile, { force: true });
    // What an initdb that was killed had started is gone a moment later.
    rmSync(draft, { recursive: true, force: true, maxRetries: 10, retryDelay: 30 });
  }
}

async function runInitdb(
  place: PostgresPlace,
  dataDir: string,
  passwordFile: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  const args = ['-D', dataDir, '-U', USER, `--pwfile=${passwordFile}`, '--auth=scram-sha-256'];
  args.push('--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--no-sync');
  const running = promisify(execFile)(join(place.binDir, 'initdb'), args, {
    env: serverEnvironment(place),
    cwd: dataDir,
    timeout: 60_000,
    ...(place.user === null ? {} : { uid: place.user.uid, gid: place.user.gid }),
  });
  const kill = (): void => {
    running.child.kill('SIGKILL');
    // The server it feeds with statements would go on writing.
    for (const part of findByWorkingFolder(dataDir)) signalProcess(part, 'SIGKILL');
  };
  signal?.addEventListener('abort', kill);
  try {
    await running;
  } catch (error) {
    signal?.throwIfAborted();
    const text = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : String(error);
    const failed = new UserError(`Creating the Postgres data folder ${place.dataDir} failed:\n${text}`, {
      exitCode: EXIT.infrastructure,
      hint: 'Mend what it says, or set DATABASE_URL to a Postgres of your own.',
      cause: error,
    });
    throw describeServerFailure(failed, text, place.dataDir);
  } finally {
    signal?.removeEventListener('abort', kill);
  }
}

function checkVersion(place: PostgresPlace): void {
  const data = readFileSync(join(place.dataDir, 'PG_VERSION'), 'utf8').trim();
  const binary = place.version.split('.')[0];
  if (binary === data) return;
  throw new UserError(`The data in ${place.dataDir} was written by Postgres ${data}; this Assay brings ${binary}.`, {
    exitCode: EXIT.infrastructure,
    hint: 'Use the Assay version that wrote it, dump and restore, or choose another folder with ASSAY_HOME.',
  });
}

/** Nothing of the caller's environment: keys must not reach a long-lived process. (On Windows Node adds what it needs.) */
function serverEnvironment(place: PostgresPlace): Record<string, string> {
  const search: Record<string, string> = process.platform === 'win32' ? {} : { PATH: '/usr/local/bin:/usr/bin:/bin' };
  return { ...search, LC_ALL: 'C', TZ: 'UTC', HOME: dirname(place.dataDir) };
}
