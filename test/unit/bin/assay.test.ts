import { spawn } from 'node:child_process';
import { chmod } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { folderWith } from '../datasets/temporary-folder.ts';

const BIN = path.resolve(import.meta.dirname, '../../../bin/assay.js');

/** Stands in for the newer Node: says which signals it got, and ends with 7 on SIGTERM. */
const NEWER_NODE = `#!${process.execPath}
process.on('SIGINT', () => process.stdout.write('INT\\n'));
process.on('SIGTERM', () => { process.stdout.write('TERM\\n'); process.exit(7); });
setInterval(() => undefined, 1000);
process.stdout.write('READY\\n');
`;

/** Runs the wrapper as if by Node 20, sends it SIGINT, then SIGTERM. */
async function signalWrapper(terminal: boolean): Promise<{ got: string; code: number | null }> {
  const cwd = await folderWith({
    'package.json': '{}',
    'node_modules/node/package.json': '{"name": "node", "version": "24.0.0"}',
    'node_modules/node/bin/node': NEWER_NODE,
    'old-node.mjs': `
      Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.0.0' } });
      Object.defineProperty(process.stdin, 'isTTY', { value: ${terminal} });`,
  });
  await chmod(path.join(cwd, 'node_modules/node/bin/node'), 0o755);
  const wrapper = spawn(process.execPath, ['--import', './old-node.mjs', BIN, 'up'], {
    cwd,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let got = '';
  const until = (end: string): Promise<void> =>
    new Promise((resolve) => {
      const look = (): void => void (got.endsWith(end) && resolve());
      wrapper.stdout.on('data', look);
      look();
    });
  wrapper.stdout.on('data', (chunk: Buffer) => (got += chunk.toString()));
  const ended = new Promise<number | null>((resolve) => wrapper.on('close', resolve));
  await until('READY\n');
  wrapper.kill('SIGINT');
  if (!terminal) await until('INT\n');
  wrapper.kill('SIGTERM');
  return { code: await ended, got };
}

test('an older Node hands a signal on once: Ctrl-C of a terminal reaches the newer one without it', async () => {
  expect(await signalWrapper(true)).toEqual({ got: 'READY\nTERM\n', code: 7 });
});

test('without a terminal an older Node hands every signal on', async () => {
  expect(await signalWrapper(false)).toEqual({ got: 'READY\nINT\nTERM\n', code: 7 });
});
