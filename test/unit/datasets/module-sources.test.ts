import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { moduleSources } from '../../../src/datasets/module-sources.ts';
import { hashAgent } from '../../../src/datasets/suite-hashes.ts';
import { suiteSchema } from '../../../src/core/suite.schema.ts';
import { folderWith } from './temporary-folder.ts';

const namesOf = async (root: string, entry = 'agent.ts'): Promise<string[]> =>
  Object.keys((await moduleSources(entry, root)).files).sort();

test('follows imports, exports, dynamic imports and requires with literal paths, through others and in circles', async () => {
  const root = await folderWith({
    'agent.ts': `import a, { type T } from './lib/a.ts'
import{b}from"./lib/b.ts";import './side.mjs';
export * from './c.ts'; export { d } from './d.ts';
import data from './data.json' with { type: 'json' };
const e = await import('./e.ts'); const f = require("./f.cjs"); await import(\`./g.ts\`);
export default () => a;`,
    'lib/a.ts': "import { back } from '../agent.ts'; import {\n  deep,\n} from './deep/x.ts';",
    'lib/b.ts': '',
    'lib/deep/x.ts': '',
    'side.mjs': '',
    'c.ts': '',
    'd.ts': '',
    'data.json': '{"text": "import \'./not-code.ts\'"}',
    'e.ts': '',
    'f.cjs': '',
    'g.ts': '',
    'unrelated.ts': '',
  });
  expect(await namesOf(root)).toEqual(
    ['agent.ts', 'c.ts', 'd.ts', 'data.json', 'e.ts', 'f.cjs', 'g.ts', 'lib/a.ts', 'lib/b.ts', 'lib/deep/x.ts'].concat(
      'side.mjs',
    ),
  );
});

test('imports of types, computed paths, and what is no import are not followed; a file that is not there is null', async () => {
  const root = await folderWith({
    'agent.ts': `import type { T } from './types.ts';
const name = './computed.ts'; await import(name); await import(\`./\${name}.ts\`);
export const text = 'from'; export const path = './text.ts';
import './gone.ts';`,
    'types.ts': '',
    'computed.ts': '',
    'text.ts': '',
  });
  expect((await moduleSources('agent.ts', root)).files).toEqual({
    'agent.ts': expect.stringMatching(/^[0-9a-f]{64}$/),
    'gone.ts': null,
  });
});

test('D8: files outside the root are not read, by path or by link', async () => {
  const root = await folderWith({
    'suite/agent.ts': "import '../outside.ts'; import './link.ts'; import './in.ts';",
    'suite/in.ts': '',
    'outside.ts': '',
  });
  await symlink(path.join(root, 'outside.ts'), path.join(root, 'suite/link.ts'));
  expect(await namesOf(path.join(root, 'suite'))).toEqual(['agent.ts', 'in.ts']);
});

test('packages count by the version that is installed, where the importing file finds it', async () => {
  const root = await folderWith({
    'agent.ts':
      "import x from '@scope/tool/deep/part.js'; import fs from 'node:fs'; import 'absent'; import './sub/a.ts';",
    'sub/a.ts': "import y from 'plain';",
    'node_modules/@scope/tool/package.json': '{"name": "@scope/tool", "version": "1.2.3"}',
    'sub/node_modules/plain/package.json': '{"version":"4.0.0"}',
  });
  expect((await moduleSources('agent.ts', root)).packages).toEqual({
    '@scope/tool': '1.2.3',
    absent: null,
    plain: '4.0.0',
  });
});

test('the hash of a module agent changes with what it imports, and with nothing else in the folder', async () => {
  const files = { 'agent.ts': "import { greet } from './lib/greet.ts';", 'lib/greet.ts': 'export const greet = 1;' };
  const root = await folderWith(files);
  const suite = suiteSchema.parse({ name: 's', datasets: ['a.yaml'], agent: { type: 'module', path: 'agent.ts' } });
  const before = await hashAgent(suite, root);
  expect(await hashAgent(suite, await folderWith(files))).toBe(before);
  await mkdir(path.join(root, 'other'));
  await writeFile(path.join(root, 'other/x.ts'), 'export const x = 1;');
  expect(await hashAgent(suite, root)).toBe(before);
  await writeFile(path.join(root, 'lib/greet.ts'), 'export const greet = 2;');
  const edited = await hashAgent(suite, root);
  expect(edited).not.toBe(before);
  await rm(path.join(root, 'lib/greet.ts'));
  expect(await hashAgent(suite, root)).not.toBe(edited);
});

test('a module that is not there is said', async () => {
  await expect(moduleSources('agent.ts', await folderWith({}))).rejects.toThrow(/agent\.ts/);
});
