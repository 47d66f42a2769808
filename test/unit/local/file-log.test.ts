import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { spawnDetached } from '../../../src/local/detached-process.ts';
import { fileLog } from '../../../src/local/file-log.ts';

test.skipIf(process.platform === 'win32')('logs of workers and servers are readable by their owner only', async () => {
  const home = mkdtempSync(path.join(tmpdir(), 'assay-log-'));
  const folder = path.join(home, 'logs');
  mkdirSync(folder);
  try {
    fileLog(home, 'worker.log')('a line');
    expect(readFileSync(path.join(folder, 'worker.log'), 'utf8')).toMatch(/ a line\n$/);
    const logFile = path.join(folder, 'server.log');
    await spawnDetached({ command: process.execPath, args: ['--version'], env: {}, cwd: home, logFile, user: null });
    for (const name of ['worker.log', 'server.log']) {
      expect(statSync(path.join(folder, name)).mode & 0o777, name).toBe(0o600);
    }
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
});
