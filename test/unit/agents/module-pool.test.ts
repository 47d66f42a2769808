import { expect, test } from 'vitest';
import type { Schedule } from '../../../src/agents/module/idle-processes.ts';
import { createModulePool, type ModulePool } from '../../../src/agents/module/module-pool.ts';
import type { ModuleProcess } from '../../../src/agents/module/module-process.ts';
import { WorkerCrashError } from '../../../src/agents/module/worker-crash.ts';

const NEVER = new AbortController().signal;

/** Time that passes when told to. */
function clock(): { schedule: Schedule; pass(ms: number): void } {
  let now = 0;
  const timers = new Set<{ at: number; callback: () => void }>();
  return {
    schedule(callback, ms) {
      const timer = { at: now + ms, callback };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    pass(ms) {
      now += ms;
      for (const timer of timers) {
        if (timer.at > now) continue;
        timers.delete(timer);
        timer.callback();
      }
    },
  };
}

function openPool(maxProcesses = 4): { pool: ModulePool; started: ModuleProcess[]; pass(ms: number): void } {
  const { schedule, pass } = clock();
  const started: ModuleProcess[] = [];
  const start = (): ModuleProcess => {
    let end: (error: WorkerCrashError) => void = () => undefined;
    const ended = new Promise<WorkerCrashError>((resolve) => {
      end = resolve;
    });
    let alive = true;
    const child: ModuleProcess = {
      pid: started.length,
      send: () => undefined,
      listen: () => undefined,
      ended,
      alive: () => alive,
      hold: () => undefined,
      async kill() {
        alive = false;
        end(new WorkerCrashError('killed', { exitCode: null, exitSignal: 'SIGKILL' }));
        await ended;
      },
    };
    started.push(child);
    return child;
  };
  return { pool: createModulePool({ start, maxProcesses, idleMs: 10_000, schedule }), started, pass };
}

const alive = (started: readonly ModuleProcess[]): boolean[] => started.map((child) => child.alive());

test('a process that has no trial for the idle time ends, and the next trial gets a new one', async () => {
  const { pool, started, pass } = openPool();
  await pool.release(await pool.acquire(4, NEVER), true);
  pass(9_999);
  expect(alive(started)).toEqual([true]);
  pass(1);
  expect(alive(started)).toEqual([false]);
  await pool.acquire(4, NEVER);
  expect(alive(started)).toEqual([false, true]);
});

test('a process at work does not age: its idle time starts when its trial is over', async () => {
  const { pool, started, pass } = openPool();
  await pool.release(await pool.acquire(4, NEVER), true);
  pass(9_000);
  const child = await pool.acquire(4, NEVER);
  pass(60_000);
  expect(alive(started)).toEqual([true]);
  await pool.release(child, true);
  pass(9_999);
  expect(alive(started)).toEqual([true]);
  pass(1);
  expect(alive(started)).toEqual([false]);
});

test('the process used last is used again, so that those too many end', async () => {
  const { pool, started, pass } = openPool();
  const [first, second] = [await pool.acquire(4, NEVER), await pool.acquire(4, NEVER)];
  await pool.release(first, true);
  await pool.release(second, true);
  for (let trial = 0; trial < 5; trial += 1) {
    pass(3_000);
    await pool.release(await pool.acquire(4, NEVER), true);
  }
  expect(alive(started)).toEqual([false, true]);
});

test('one that died while idle is not handed out; close ends the idle ones', async () => {
  const { pool, started } = openPool();
  const child = await pool.acquire(4, NEVER);
  await pool.release(child, true);
  await child.kill();
  await pool.release(await pool.acquire(4, NEVER), true);
  expect(alive(started)).toEqual([false, true]);
  await pool.close();
  expect(alive(started)).toEqual([false, false]);
});
