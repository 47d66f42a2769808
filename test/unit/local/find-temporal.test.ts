import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { executable, findOnPath } from '../../../src/local/find-temporal.ts';

const folder = mkdtempSync(join(tmpdir(), 'assay-path-'));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('a program is found on PATH, and on Path as Windows names it', () => {
  const program = join(folder, executable('some-program'));
  writeFileSync(program, '');
  chmodSync(program, 0o755);
  const search = ['', join(folder, 'missing'), folder].join(delimiter);
  expect(findOnPath('some-program', { PATH: search })).toBe(program);
  expect(findOnPath('some-program', { Path: search })).toBe(program);
  expect(findOnPath('some-program', {})).toBeNull();
  expect(findOnPath('other-program', { PATH: search })).toBeNull();
});
