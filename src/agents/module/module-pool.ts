import { createIdleProcesses, type Schedule, scheduleUnheld } from './idle-processes.ts';
import type { ModuleProcess } from './module-process.ts';
import { abortError } from '../sleep.ts';

/**
 * Child processes for module agents: made when needed, one trial each at a time, used again; one that nobody needs for
 * a while ends, so that an evaluation that is over or paused holds no processes.
 */
export interface ModulePool {
  /**
   * A process for one trial; waits while `limit` processes (never more than the pool's own maximum) are busy, first
   * come first served. Rejects with `AbortError` when the signal is aborted while waiting.
   */
  acquire(limit: number, signal: AbortSignal): Promise<ModuleProcess>;
  /** Gives a process back; one that is not `reusable` is killed first. Another ends after its idle time. */
  release(process: ModuleProcess, reusable: boolean): Promise<void>;
  /** Kills every process. Trials in progress see their process end. */
  close(): Promise<void>;
}

interface Waiter {
  limit: number;
  resolve: (child: ModuleProcess) => void;
  reject: (error: Error) => void;
}

/** Milliseconds a process waits for its next trial before it ends. */
const IDLE_MS = 10_000;

export interface ModulePoolOptions {
  /** Makes one process; called when none is idle. */
  start: () => ModuleProcess;
  maxProcesses: number;
  /** Milliseconds after which an idle process ends. Default 10,000. */
  idleMs?: number;
  /** Default: a timer that does not keep this process alive. */
  schedule?: Schedule;
}

export function createModulePool(options: ModulePoolOptions): ModulePool {
  const { start, maxProcesses, idleMs = IDLE_MS, schedule = scheduleUnheld } = options;
  const idle = createIdleProcesses(idleMs, schedule);
  const all = new Set<ModuleProcess>();
  const waiters: Waiter[] = [];
  let busy = 0;
  let closed = false;

  const grow = (): ModuleProcess => {
    const child = start();
    all.add(child);
    void child.ended.then(() => all.delete(child));
    return child;
  };
  const take = (): ModuleProcess => {
    const child = idle.take() ?? grow();
    busy += 1;
    child.hold(true);
    return child;
  };
  const room = (limit: number): boolean => busy < Math.max(1, Math.min(limit, maxProcesses));

  return {
    async acquire(limit, signal) {
      if (signal.aborted) throw abortError(signal);
      if (closed) throw closedError();
      return waiters.length === 0 && room(limit) ? take() : queue(waiters, limit, signal);
    },
    async release(child, reusable) {
      child.listen(null);
      if (!reusable || closed) await child.kill();
      else if (child.alive()) idle.put(child);
      busy -= 1;
      const next = waiters[0];
      if (next === undefined || !room(next.limit)) return;
      waiters.shift();
      // Taken here and now: between this and the waiter's next step others may ask.
      next.resolve(take());
    },
    async close() {
      closed = true;
      idle.clear();
      for (const waiter of waiters.splice(0)) waiter.reject(closedError());
      await Promise.all([...all].map((child) => child.kill()));
    },
  };
}

function closedError(): Error {
  return new Error('the pool of module processes is closed: the worker is shutting down');
}

function queue(waiters: Waiter[], limit: number, signal: AbortSignal): Promise<ModuleProcess> {
  return new Promise((resolve, reject) => {
    const leave = (): void => signal.removeEventListener('abort', onAbort);
    const onAbort = (): void => {
      waiters.splice(waiters.indexOf(waiter), 1);
      reject(abortError(signal));
    };
    const waiter: Waiter = {
      limit,
      resolve: (child) => {
        leave();
        resolve(child);
      },
      reject: (error) => {
        leave();
        reject(error);
      },
    };
    waiters.push(waiter);
    signal.addEventListener('abort', onAbort, { once: true });
  });
}
