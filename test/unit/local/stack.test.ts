import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ensureStack } from '../../../src/local/stack.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'assay-stack-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('a folder that cannot be used is said before anything is downloaded or built', async () => {
  const file = join(folder, 'file');
  writeFileSync(file, '');
  const home = join(file, '.assay');
  const lines: string[] = [];
  // No Temporal on this PATH and in this cache.
  const env = { PATH: '', HOME: folder, XDG_CACHE_HOME: join(folder, 'cache') };
  const refused = ensureStack({ home, env, log: (line) => lines.push(line) });
  await expect(refused).rejects.toMatchObject({ exitCode: 4, message: expect.stringContaining(home) as string });
  expect(lines).toEqual([]);
});
