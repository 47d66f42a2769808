import { spawn } from 'node:child_process';
import { closeSync, fstatSync, openSync, readFileSync, renameSync, statSync } from 'node:fs';
import { describeFileError, hasCode } from './system-error.ts';
import { identifyProcess, type ProcessIdentity } from './process-identity.ts';

export interface DetachedOptions {
  command: string;
  args: readonly string[];
  /** Given whole: nothing of the caller's own environment (keys!) is inherited. */
  env: Record<string, string>;
  cwd: string;
  /** Standard output and error are appended here. */
  logFile: string;
  user: { uid: number; gid: number } | null;
}

export interface DetachedProcess {
  identity: ProcessIdentity;
  /** Why it ended; null while it runs. Known only to the process that started it. */
  ended(): string | null;
  /** The last lines it wrote, none of an earlier process with the same log. */
  lastLines(): string;
}

/**
 * Starts a process in a session of its own, so that neither Ctrl-C in the terminal nor the death of its parent
 * reaches it.
 * @throws Error when the command cannot be started.
 */
export async function spawnDetached(options: DetachedOptions): Promise<DetachedProcess> {
  const logDescriptor = openLog(options.logFile);
  const logStart = fstatSync(logDescriptor).size;
  try {
    const child = spawn(options.command, options.args, {
      detached: true,
      windowsHide: true,
      cwd: options.cwd,
      env: options.env,
      stdio: ['ignore', logDescriptor, logDescriptor],
      ...(options.user === null ? {} : { uid: options.user.uid, gid: options.user.gid }),
    });
    let reason: string | null = null;
    child.on('exit', (code, signal) => {
      reason = signal === null ? `it ended with code ${code}` : `it was ended by ${signal}`;
    });
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', reject);
    });
    child.unref();
    const pid = child.pid;
    if (pid === undefined) throw new Error(`${options.command} started without a pid`);
    const identity = identifyProcess(pid) ?? { pid, startedAt: 'ended at once' };
    return { identity, ended: () => reason, lastLines: () => tailOfLog(options.logFile, TAIL_LINES, logStart) };
  } finally {
    closeSync(logDescriptor);
  }
}

const LOG_LIMIT_BYTES = 10 * 1024 * 1024;

/** Opens a log for appending; one beyond 10 MB becomes `NAME.1` first, replacing the older one. Its owner's only: logs quote cases. */
function openLog(path: string): number {
  try {
    if (statSync(path).size > LOG_LIMIT_BYTES) renameSync(path, `${path}.1`);
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw describeFileError(error, path);
  }
  try {
    return openSync(path, 'a', 0o600);
  } catch (error) {
    throw describeFileError(error, path);
  }
}

const TAIL_LINES = 8;

/** The last lines of a log, for an error message, none of its first `start` bytes; empty when there is none. */
export function tailOfLog(path: string, lines = TAIL_LINES, start = 0): string {
  try {
    return readFileSync(path).subarray(start).toString('utf8').trimEnd().split('\n').slice(-lines).join('\n');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return '';
    throw error;
  }
}
