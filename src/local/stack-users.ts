import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { randomBytes } from 'node:crypto';
import { describeFileError, hasCode } from './system-error.ts';
import { isAlive, ownIdentity, type ProcessIdentity } from './process-identity.ts';

/**
 * Processes that use the stack of a home folder: one file each in `home/users`, named `PID-KEY`, holding the start
 * time. A file whose process is gone (or whose pid now belongs to another process) counts for nothing.
 */
export function registerUser(home: string): string {
  const folder = join(home, 'users');
  const identity = ownIdentity();
  const path = join(folder, `${identity.pid}-${randomBytes(4).toString('hex')}`);
  try {
    mkdirSync(folder, { recursive: true });
    writeFileSync(path, identity.startedAt);
  } catch (error) {
    throw describeFileError(error, folder);
  }
  return path;
}

export function removeUser(path: string): void {
  rmSync(path, { force: true });
}

/** Live users; the files of dead ones are removed. Call it under the stack's lock. */
export function liveUsers(home: string): ProcessIdentity[] {
  const folder = join(home, 'users');
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return [];
    throw error;
  }
  return names.flatMap((name) => {
    const path = join(folder, name);
    const identity = { pid: Number.parseInt(name, 10), startedAt: readFileSync(path, 'utf8') };
    if (isAlive(identity)) return identity;
    rmSync(path, { force: true });
    return [];
  });
}
