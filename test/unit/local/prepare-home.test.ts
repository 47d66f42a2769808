import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { prepareHome } from '../../../src/local/prepare-home.ts';
import { folderWith } from '../datasets/temporary-folder.ts';

test('a new home folder hides itself from Git', async () => {
  const home = path.join(await folderWith({}), 'project', '.assay');
  prepareHome(home);
  expect(readFileSync(path.join(home, '.gitignore'), 'utf8')).toBe('*\n');
  expect(existsSync(path.join(home, 'logs'))).toBe(true);
});

test('a folder that was there is left as its owner made it', async () => {
  const home = await folderWith({ 'notes.txt': 'mine' });
  prepareHome(home);
  expect(existsSync(path.join(home, '.gitignore'))).toBe(false);
});

test('a home that cannot be made says how to choose another', async () => {
  const folder = await folderWith({ file: '' });
  expect(() => prepareHome(path.join(folder, 'file', 'home'))).toThrow(/home/);
});
