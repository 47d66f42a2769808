import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  findByArgument,
  identifyProcess,
  isAlive,
  ownIdentity,
  parseProcStat,
  signalProcess,
} from '../../../src/local/process-identity.ts';

/** The machine may be busy; a poll waits only as long as it must. */
const PATIENCE = { timeout: 15_000 };

test('this process is alive; the same pid with another start time is somebody else', () => {
  expect(isAlive(ownIdentity())).toBe(true);
  expect(isAlive({ pid: process.pid, startedAt: 'other' })).toBe(false);
});

test.each([0, -1, 1.5, Number.NaN])('pid %s is nobody', (pid) => {
  expect(identifyProcess(pid)).toBeNull();
});

test('a process that ended is not alive and gets no signal', async () => {
  const child = spawn(process.execPath, ['-e', '0']);
  const identity = identifyProcess(child.pid!)!;
  await once(child, 'exit');
  expect(isAlive(identity)).toBe(false);
  expect(signalProcess(identity, 'SIGKILL')).toBe(false);
});

test.runIf(process.platform === 'linux')('a zombie is dead', async () => {
  // The child stops its parent, so nothing can reap it before the test has looked.
  const child = 'echo $$; kill -STOP $PPID; exec sleep 30';
  const parent = spawn('sh', ['-c', 'sh -c "$0" & wait', child], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  try {
    const [line] = (await once(parent.stdout!, 'data')) as [Buffer];
    const zombie = Number(line.toString().trim());
    const stateOf = (pid: number): string | undefined =>
      parseProcStat(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.state;
    await expect.poll(() => stateOf(parent.pid!), PATIENCE).toBe('T');
    expect(identifyProcess(zombie)).not.toBeNull();
    process.kill(zombie, 'SIGKILL');
    await expect.poll(() => stateOf(zombie), PATIENCE).toBe('Z');
    // kill(2) still reaches it: what a check by signal 0 would take for life.
    expect(() => process.kill(zombie, 0)).not.toThrow();
    expect(identifyProcess(zombie)).toBeNull();
  } finally {
    parent.kill('SIGKILL');
  }
  await once(parent, 'exit');
});

test('a process is found by a whole argument, not by a part of one', async () => {
  const marker = `marker-${process.pid}-${Date.now()}`;
  const child = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 30000)', marker]);
  await once(child, 'spawn');
  await expect.poll(() => findByArgument(marker).map((found) => found.pid), PATIENCE).toEqual([child.pid]);
  if (process.platform === 'linux') expect(findByArgument(marker.slice(0, -1))).toEqual([]);
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(findByArgument(marker)).toEqual([]);
});

test('state and start time are found whatever the command is called', () => {
  fc.assert(
    fc.property(fc.string(), fc.constantFrom('R', 'S', 'Z'), fc.nat(), (name, state, ticks) => {
      const between = Array.from({ length: 18 }, (_, index) => index).join(' ');
      expect(parseProcStat(`42 (${name}) ${state} ${between} ${ticks} 0 0\n`)).toEqual({
        state,
        startTicks: String(ticks),
      });
    }),
  );
});

test('a torn stat line is nobody', () => {
  expect(parseProcStat('42 (node) S 1 2')).toBeNull();
  expect(parseProcStat('')).toBeNull();
});
