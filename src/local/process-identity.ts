import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync, readlinkSync } from 'node:fs';
import { hasCode } from './system-error.ts';

/**
 * A process as it can be recognised later. A pid alone is not enough: after a crash it may belong to somebody else.
 * `startedAt` is opaque: equal means the same process.
 */
export interface ProcessIdentity {
  pid: number;
  startedAt: string;
}

/** The process with this pid now; null when there is none or only its zombie is left (an orphan nobody reaped is dead). */
export function identifyProcess(pid: number): ProcessIdentity | null {
  if (!Number.isSafeInteger(pid) || pid <= 0) return null;
  if (process.platform === 'linux') return identifyOnLinux(pid);
  if (!signalReaches(pid)) return null;
  return process.platform === 'win32' ? { pid, startedAt: 'unknown' } : identifyByPs(pid);
}

export function isAlive(identity: ProcessIdentity): boolean {
  return identifyProcess(identity.pid)?.startedAt === identity.startedAt;
}

/** This process. */
export function ownIdentity(): ProcessIdentity {
  return identifyProcess(process.pid) ?? { pid: process.pid, startedAt: 'unknown' };
}

/**
 * Sends a signal to exactly this process.
 * @returns false when it is already gone.
 */
export function signalProcess(identity: ProcessIdentity, signal: NodeJS.Signals): boolean {
  if (!isAlive(identity)) return false;
  try {
    process.kill(identity.pid, signal);
    return true;
  } catch (error) {
    if (hasCode(error, 'ESRCH')) return false;
    throw error;
  }
}

/**
 * State and start time of field 3 and 22 of /proc/PID/stat (proc(5)). The command name in field 2 is in parentheses
 * and may itself hold spaces and parentheses, so fields are counted from the last one.
 */
export function parseProcStat(text: string): { state: string; startTicks: string } | null {
  const fields = text
    .slice(text.lastIndexOf(')') + 1)
    .trim()
    .split(' ');
  const state = fields[0];
  const startTicks = fields[19];
  return state === undefined || state === '' || startTicks === undefined ? null : { state, startTicks };
}

function identifyOnLinux(pid: number): ProcessIdentity | null {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ESRCH')) return null;
    throw error;
  }
  const stat = parseProcStat(text);
  if (stat === null || stat.state === 'Z' || stat.state === 'X') return null;
  return { pid, startedAt: `${bootId()}:${stat.startTicks}` };
}

let cachedBootId: string | undefined;
/** Start ticks count from boot; with the boot's own id a pid of before a reboot is never taken for a live one. */
function bootId(): string {
  cachedBootId ??= readBootId();
  return cachedBootId;
}

function readBootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch (error) {
    // Sandboxes such as gVisor lack it; then the start ticks alone have to do.
    if (hasCode(error, 'ENOENT', 'EACCES', 'EPERM')) return 'unknown boot';
    throw error;
  }
}

function signalReaches(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return hasCode(error, 'EPERM');
  }
}

function identifyByPs(pid: number): ProcessIdentity | null {
  let line: string;
  try {
    line = execFileSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    // ps exits 1 when no such process exists.
    return null;
  }
  const [state = '', ...rest] = line.split(/\s+/);
  return state === '' || state.startsWith('Z') ? null : { pid, startedAt: rest.join(' ') };
}

/**
 * Processes with this exact argument on their command line, for orphans whose start was never recorded because their
 * parent was killed in between. Empty on Windows.
 */
export function findByArgument(argument: string): ProcessIdentity[] {
  if (process.platform === 'win32') return [];
  const pids = process.platform === 'linux' ? pidsFromProc(argument) : pidsFromPs(argument);
  return pids.flatMap((pid) => (pid === process.pid ? [] : (identifyProcess(pid) ?? [])));
}

/** Processes working in this folder (Linux only, elsewhere empty): what a killed Postgres leaves behind. */
export function findByWorkingFolder(folder: string): ProcessIdentity[] {
  return procPids().flatMap((pid) => {
    try {
      if (readlinkSync(`/proc/${pid}/cwd`) !== folder) return [];
    } catch (error) {
      if (hasCode(error, 'ENOENT', 'ESRCH', 'EACCES', 'EPERM')) return [];
      throw error;
    }
    return identifyProcess(pid) ?? [];
  });
}

function procPids(): number[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

function pidsFromProc(argument: string): number[] {
  return procPids().filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(argument);
    } catch (error) {
      if (hasCode(error, 'ENOENT', 'ESRCH', 'EACCES', 'EPERM')) return false;
      throw error;
    }
  });
}

function pidsFromPs(argument: string): number[] {
  const lines = execFileSync('ps', ['-A', '-ww', '-o', 'pid=,args='], { encoding: 'utf8' }).split('\n');
  return lines.flatMap((line) => {
    const match = /^\s*(\d+)\s(.*)$/.exec(line);
    return match !== null && ` ${match[2]} `.includes(` ${argument} `) ? [Number(match[1])] : [];
  });
}
