import type { ModuleProcess } from './module-process.ts';

/** Calls back after a time, and gives what takes that back. */
export type Schedule = (callback: () => void, ms: number) => () => void;

/** A timer that does not keep this process alive. */
export const scheduleUnheld: Schedule = (callback, ms) => {
  const timer = setTimeout(callback, ms);
  timer.unref();
  return () => clearTimeout(timer);
};

/** Processes that wait for their next trial; each ends when it has waited for its idle time. */
export interface IdleProcesses {
  put(child: ModuleProcess): void;
  /** The one used last, so that those too many grow old; null when none is alive. */
  take(): ModuleProcess | null;
  /** Forgets all of them without ending any. */
  clear(): void;
}

export function createIdleProcesses(idleMs: number, schedule: Schedule): IdleProcesses {
  const waiting = new Map<ModuleProcess, () => void>();
  return {
    put(child) {
      child.hold(false);
      const wake = schedule(() => {
        waiting.delete(child);
        void child.kill();
      }, idleMs);
      waiting.set(child, wake);
    },
    take() {
      for (const [child, wake] of [...waiting].reverse()) {
        wake();
        waiting.delete(child);
        if (child.alive()) return child;
      }
      return null;
    },
    clear() {
      for (const wake of waiting.values()) wake();
      waiting.clear();
    },
  };
}
