import { existsSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { installedPackage } from '../../../src/core/installed-package.ts';

test('finds prompts, migrations and the version of this package', () => {
  const { root, code, version } = installedPackage();
  expect(root).toBe(path.resolve(import.meta.dirname, '../../..'));
  for (const folder of [path.join(root, 'prompts'), path.join(code, 'migrations'), path.join(code, 'src')]) {
    expect(existsSync(folder)).toBe(true);
  }
  expect(version).toMatch(/^\d+\.\d+\.\d+/);
});
