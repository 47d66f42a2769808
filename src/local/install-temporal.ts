import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, createWriteStream, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { EXIT, UserError } from '../core/errors.ts';
import { cachedTemporal, executable, findOnPath, TEMPORAL_CLI_VERSION } from './find-temporal.ts';
import type { Env } from './env.ts';
import { withLock } from './lock.ts';
import { describeFileError } from './system-error.ts';

/** Bound on reaching the download server, and on the whole download, in milliseconds. */
const CONNECT_TIMEOUT_MS = 10_000;
const DOWNLOAD_TIMEOUT_MS = 300_000;
const BUILD_TIMEOUT_MS = 900_000;

/**
 * Puts the Temporal CLI into the cache: downloads the official archive, else builds it with Go.
 * Two processes that install at the same time share one installation.
 * @param signal ends it when it is aborted; its reason is thrown
 * @throws UserError exit code 4, naming what was tried and every other choice.
 */
export async function installTemporal(
  env: Env,
  log: (line: string) => void,
  signal: AbortSignal = new AbortController().signal,
): Promise<string> {
  const target = cachedTemporal(env);
  const folder = dirname(target);
  try {
    mkdirSync(folder, { recursive: true });
  } catch (error) {
    throw describeFileError(error, folder);
  }
  const lock = { what: `the installation of Temporal in ${folder}`, log, timeoutMs: BUILD_TIMEOUT_MS, signal };
  return withLock(join(folder, 'lock'), lock, async () => {
    if (existsSync(target)) return target;
    log(`no Temporal CLI on this machine: downloading ${TEMPORAL_CLI_VERSION} into ${folder}`);
    const downloadFailure = await attempt(() => download(target, env, signal));
    signal.throwIfAborted();
    if (downloadFailure === null) return target;
    log(`the download failed (${downloadFailure})`);
    const go = findOnPath('go', env);
    const buildFailure =
      go === null ? 'Go is not installed' : await attempt(() => build(go, target, { env, log, signal }));
    signal.throwIfAborted();
    if (buildFailure === null) return target;
    throw noTemporal(downloadFailure, buildFailure);
  });
}

/** null on success, else why it failed. Errors a user can mend (disk full) are passed on. */
async function attempt(install: () => Promise<void>): Promise<string | null> {
  try {
    await install();
    return null;
  } catch (error) {
    const described = describeFileError(error, 'the cache folder');
    if (described instanceof UserError) throw described;
    return reason(error);
  }
}

function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}

/** The address of the CLI archive for a platform, as named by Node (`process.platform`, `process.arch`). */
export function archiveUrl(platform: string, arch: string): string {
  const os = platform === 'win32' ? 'windows' : platform;
  const machine = arch === 'x64' ? 'amd64' : arch;
  return `https://temporal.download/cli/archive/${TEMPORAL_CLI_VERSION}?platform=${os}&arch=${machine}`;
}

/** Windows gets a zip archive, which its own bsdtar opens; the tar of Git, often first on PATH there, does not. */
export function tarOf(platform: string, env: Env): string {
  if (platform !== 'win32') return 'tar';
  return `${env['SystemRoot'] ?? env['SYSTEMROOT'] ?? 'C:\\Windows'}\\System32\\tar.exe`;
}

async function download(target: string, env: Env, signal: AbortSignal): Promise<void> {
  const controller = new AbortController();
  const deadline = setTimeout(
    () => controller.abort(new Error(`no answer within ${CONNECT_TIMEOUT_MS / 1000} s`)),
    CONNECT_TIMEOUT_MS,
  );
  const draft = `${target}.${randomBytes(4).toString('hex')}`;
  mkdirSync(draft);
  try {
    const response = await fetch(archiveUrl(process.platform, process.arch), {
      signal: AbortSignal.any([controller.signal, signal]),
    });
    clearTimeout(deadline);
    if (!response.ok || response.body === null) throw new Error(`HTTP ${response.status}`);
    const archive = join(draft, 'archive');
    const wholeDownload = AbortSignal.any([AbortSignal.timeout(DOWNLOAD_TIMEOUT_MS), signal]);
    await pipeline(Readable.fromWeb(response.body), createWriteStream(archive), { signal: wholeDownload });
    await promisify(execFile)(tarOf(process.platform, env), ['-xf', archive, '-C', draft]);
    const unpacked = join(draft, executable('temporal'));
    if (!existsSync(unpacked)) throw new Error('the archive holds no temporal');
    chmodSync(unpacked, 0o755);
    renameSync(unpacked, target);
  } finally {
    clearTimeout(deadline);
    rmSync(draft, { recursive: true, force: true });
  }
}

async function build(
  go: string,
  target: string,
  { env, log, signal }: { env: Env; log: (line: string) => void; signal: AbortSignal },
): Promise<void> {
  const source = `github.com/temporalio/cli/cmd/temporal@${TEMPORAL_CLI_VERSION}`;
  log(`building it with ${go} install ${source}: this takes 3 to 10 minutes, once`);
  const begin = performance.now();
  const progress = setInterval(() => {
    log(`still building Temporal (${Math.round((performance.now() - begin) / 1000)} s)`);
  }, 20_000);
  try {
    await goInstall(go, source, dirname(target), env, signal);
  } finally {
    clearInterval(progress);
  }
  if (!existsSync(target)) throw new Error(`go install ended without writing ${target}`);
}

/** Runs `go install SOURCE` with the result going to `folder`. */
export async function goInstall(
  go: string,
  source: string,
  folder: string,
  env: Env,
  signal?: AbortSignal,
): Promise<void> {
  const child = spawn(go, ['install', source], {
    env: { ...env, GOBIN: folder, GOFLAGS: '-buildvcs=false' },
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: BUILD_TIMEOUT_MS,
    signal,
  });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors = (errors + text).slice(-2000);
  });
  await new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      if (code === 0) resolve();
      else reject(new Error(`go install ended with ${signal ?? `code ${code}`}: ${errors.trim()}`));
    });
  });
}

function noTemporal(downloadFailure: string, buildFailure: string): UserError {
  return new UserError(
    `There is no Temporal server to use. Downloading one failed (${downloadFailure}); building one failed (${buildFailure}).`,
    {
      exitCode: EXIT.infrastructure,
      hint: [
        'Any one of these mends it:',
        '- set TEMPORAL_ADDRESS to a running Temporal (a cluster, Temporal Cloud, docker compose up)',
        '- install the Temporal CLI (https://docs.temporal.io/cli) on PATH, or name it with ASSAY_TEMPORAL_BIN',
        '- allow HTTPS to temporal.download, so that Assay can fetch it',
        '- install Go 1.24 or newer, so that Assay can build it',
      ].join('\n'),
    },
  );
}
