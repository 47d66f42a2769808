import { linkSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { EXIT, UserError } from '../core/errors.ts';
import { describeFileError, hasCode } from './system-error.ts';
import { isAlive, ownIdentity, type ProcessIdentity } from './process-identity.ts';
import { systemClock, type Clock } from './wait.ts';

const HOLDER = z.object({ pid: z.int(), startedAt: z.string(), key: z.string() });
type Holder = z.infer<typeof HOLDER>;

export interface LockOptions {
  /** What the lock protects, for messages: `the stack in /x/.assay`. */
  what: string;
  log: (line: string) => void;
  /** Bound on waiting for the lock, in milliseconds. Default 120,000. */
  timeoutMs?: number;
  clock?: Clock;
  /** Ends the wait when it is aborted; its reason is thrown. */
  signal?: AbortSignal | undefined;
}

/** A lock whose content cannot be read (torn by a full disk) is given this long, in milliseconds, before it is stale. */
const UNREADABLE_GRACE_MS = 5000;

/**
 * Runs `work` while holding the exclusive lock file `path`. A lock whose holder has died is taken over.
 * Waits for a live holder, bounded, and says so after a second.
 * @throws UserError exit code 4, when the bound is reached or the folder cannot be written.
 */
export async function withLock<T>(path: string, options: LockOptions, work: () => Promise<T>): Promise<T> {
  const holder = await acquire(path, options);
  try {
    return await work();
  } finally {
    // Only our own: if somebody took it from us by mistake, theirs must stay.
    if (readHolder(path)?.key === holder.key) rmSync(path, { force: true });
  }
}

async function acquire(path: string, options: LockOptions): Promise<Holder> {
  const clock = options.clock ?? systemClock;
  const holder: Holder = { ...ownIdentity(), key: randomBytes(8).toString('hex') };
  const timeoutMs = options.timeoutMs ?? 120_000;
  const begin = clock.now();
  let told = false;
  for (;;) {
    options.signal?.throwIfAborted();
    if (createExclusively(path, holder)) return holder;
    const current = readHolder(path);
    if (isStale(path, current)) {
      takeOver(path, holder);
      continue;
    }
    const waited = clock.now() - begin;
    if (waited >= timeoutMs) {
      throw new UserError(`Waited ${Math.round(timeoutMs / 1000)} s for ${options.what}, held by ${named(current)}.`, {
        exitCode: EXIT.infrastructure,
        hint: `Wait for that process or end it. If it is not Assay, delete ${path}.`,
      });
    }
    if (!told && waited >= 1000) {
      told = true;
      options.log(`waiting for ${options.what}, held by ${named(current)}`);
    }
    await clock.sleep(50);
  }
}

/** Link, not open-and-write: the lock appears with its content or not at all. */
function createExclusively(path: string, holder: Holder): boolean {
  const draft = `${path}.${holder.key}`;
  try {
    writeFileSync(draft, JSON.stringify(holder), { mode: 0o644 });
    try {
      linkSync(draft, path);
    } catch (error) {
      // exFAT and some network and container mounts have no links. Written directly, the lock may be seen empty for a
      // moment, which `UNREADABLE_GRACE_MS` allows for.
      if (!hasCode(error, 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK')) throw error;
      writeFileSync(path, JSON.stringify(holder), { mode: 0o644, flag: 'wx' });
    }
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw describeFileError(error, path);
  } finally {
    rmSync(draft, { force: true });
  }
}

function isStale(path: string, current: Holder | null): boolean {
  if (current !== null) return !isAlive(identityOf(current));
  const age = ageMs(path);
  return age !== null && age > UNREADABLE_GRACE_MS;
}

/**
 * Removes a stale lock. A second lock guards the removal: without it, two processes that both saw the stale lock could
 * remove it twice, the second time the fresh one of the first.
 */
function takeOver(path: string, holder: Holder): void {
  const guard = `${path}.takeover`;
  if (!createExclusively(guard, holder)) {
    const other = readHolder(guard);
    if (isStale(guard, other)) rmSync(guard, { force: true });
    return;
  }
  try {
    if (isStale(path, readHolder(path))) rmSync(path, { force: true });
  } finally {
    rmSync(guard, { force: true });
  }
}

function readHolder(path: string): Holder | null {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null;
    throw describeFileError(error, path);
  }
  try {
    return HOLDER.parse(JSON.parse(text));
  } catch {
    // Torn or foreign content: nobody can be named, so its age decides.
    return null;
  }
}

function ageMs(path: string): number | null {
  try {
    // One from the future was written before the clock was set back.
    return Math.abs(Date.now() - statSync(path).mtimeMs);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null;
    throw error;
  }
}

function identityOf(holder: Holder): ProcessIdentity {
  return { pid: holder.pid, startedAt: holder.startedAt };
}

function named(holder: Holder | null): string {
  return holder === null ? 'an unknown process' : `process ${holder.pid}`;
}
