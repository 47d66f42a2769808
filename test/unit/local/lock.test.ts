import { existsSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { withLock, type LockOptions } from '../../../src/local/lock.ts';
import { ownIdentity } from '../../../src/local/process-identity.ts';

let folder: string;
let path: string;
let lines: string[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'assay-lock-'));
  path = join(folder, 'lock');
  lines = [];
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A clock that jumps, so that nothing waits for real. */
function options(): LockOptions {
  let now = 0;
  const clock = {
    now: () => now,
    sleep: async (ms: number) => {
      now += ms;
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
  return { what: 'the stack', log: (line) => lines.push(line), clock };
}

test('one at a time, and the file is gone afterwards, also after an error', async () => {
  let inside = 0;
  let most = 0;
  const work = async (): Promise<void> => {
    inside += 1;
    most = Math.max(most, inside);
    await new Promise((resolve) => setImmediate(resolve));
    inside -= 1;
  };
  await Promise.all(Array.from({ length: 8 }, () => withLock(path, options(), work)));
  expect(most).toBe(1);
  const failing = withLock(path, options(), () => Promise.reject(new Error('broken')));
  await expect(failing).rejects.toThrow('broken');
  expect(readdirSync(folder)).toEqual([]);
});

test('the lock of a live process is waited for, said, and given up after the bound', async () => {
  writeFileSync(path, JSON.stringify({ ...ownIdentity(), key: 'other' }));
  const waiting = withLock(path, options(), async () => 1);
  await expect(waiting).rejects.toMatchObject({
    name: 'UserError',
    exitCode: 4,
    message: `Waited 120 s for the stack, held by process ${process.pid}.`,
  });
  expect(lines).toEqual([`waiting for the stack, held by process ${process.pid}`]);
  expect(existsSync(path)).toBe(true);
});

test('the lock of a dead process, or of one whose pid was given away, is taken over', async () => {
  writeFileSync(path, JSON.stringify({ pid: process.pid, startedAt: 'an earlier process', key: 'old' }));
  expect(await withLock(path, options(), async () => 'mine')).toBe('mine');
  expect(readdirSync(folder)).toEqual([]);
});

test('many that find the same stale lock still go one at a time', async () => {
  writeFileSync(path, JSON.stringify({ pid: process.pid, startedAt: 'an earlier process', key: 'old' }));
  let inside = 0;
  await Promise.all(
    Array.from({ length: 8 }, () =>
      withLock(path, options(), async () => {
        inside += 1;
        expect(inside).toBe(1);
        await new Promise((resolve) => setImmediate(resolve));
        inside -= 1;
      }),
    ),
  );
});

test('a takeover whose process died is taken over too', async () => {
  const dead = JSON.stringify({ pid: process.pid, startedAt: 'an earlier process', key: 'old' });
  writeFileSync(path, dead);
  writeFileSync(`${path}.takeover`, dead);
  expect(await withLock(path, options(), async () => 'mine')).toBe('mine');
});

test('an unreadable lock is stale only when it is old', async () => {
  writeFileSync(path, '{"pid":');
  await expect(withLock(path, options(), async () => 1)).rejects.toThrow(/unknown process/);
  utimesSync(path, new Date(0), new Date(0));
  expect(await withLock(path, options(), async () => 'mine')).toBe('mine');
});

test('a folder that does not exist is an error, not an endless wait', async () => {
  await expect(withLock(join(folder, 'nowhere', 'lock'), options(), async () => 1)).rejects.toThrow(/ENOENT/);
});
