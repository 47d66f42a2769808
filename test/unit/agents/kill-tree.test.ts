import { expect, test } from 'vitest';
import { type KillSystem, killTree } from '../../../src/agents/module/kill-tree.ts';

function recording(platform: NodeJS.Platform, code?: string): KillSystem & { done: string[] } {
  const done: string[] = [];
  return {
    done,
    platform,
    run: (command, args) => void done.push([command, ...args].join(' ')),
    kill: (pid, signal) => {
      done.push(`${signal} ${pid}`);
      if (code !== undefined) throw Object.assign(new Error('kill'), { code });
    },
  };
}

test('the group is killed at once; on Windows the tree first, then the process should taskkill be missing', () => {
  const linux = recording('linux');
  killTree(42, linux);
  expect(linux.done).toEqual(['SIGKILL -42']);
  const windows = recording('win32');
  killTree(42, windows);
  expect(windows.done).toEqual(['taskkill /pid 42 /t /f', 'SIGKILL 42']);
});

test('one that has ended is no error; one that may not be killed is', () => {
  for (const platform of ['linux', 'win32'] as const) {
    killTree(42, recording(platform, 'ESRCH'));
    expect(() => killTree(42, recording(platform, 'EPERM'))).toThrow('kill');
  }
});
