import { spawnSync } from 'node:child_process';
import { kill, platform } from 'node:process';

/** What killing needs of the system; a test gives its own. */
export interface KillSystem {
  platform: NodeJS.Platform;
  kill: (pid: number, signal: NodeJS.Signals) => void;
  /** Runs a command to its end, whatever that is. */
  run: (command: string, args: readonly string[]) => void;
}

const SYSTEM: KillSystem = {
  platform,
  kill,
  run: (command, args) => void spawnSync(command, args, { stdio: 'ignore', windowsHide: true, timeout: 10_000 }),
};

/** Arguments of Windows' `taskkill` for a process and all it started. */
export function taskkillArguments(pid: number): string[] {
  return ['/pid', String(pid), '/t', '/f'];
}

/**
 * Kills a process that leads a group of its own, and all it started. Windows has no groups: there `taskkill /T` follows
 * the tree of parents. One that has ended is no error.
 */
export function killTree(pid: number, system: KillSystem = SYSTEM): void {
  if (system.platform === 'win32') system.run('taskkill', taskkillArguments(pid));
  try {
    system.kill(system.platform === 'win32' ? pid : -pid, 'SIGKILL');
  } catch (error) {
    // ESRCH: all of it has ended, which is what was wanted.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
