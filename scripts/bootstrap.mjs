// Runs a script of this repository with the Node it brings along, after installing what the lockfile names: once, and
// again only when the lockfile has changed. Plain JavaScript, because it may be started by an older Node.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const windows = process.platform === 'win32';
const stamp = path.join(root, 'node_modules', '.assay-installed');
const wanted = createHash('sha256')
  .update(readFileSync(path.join(root, 'package-lock.json')))
  .digest('hex');

if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== wanted) {
  console.log('installing dependencies (npm ci) …');
  const install = spawnSync(windows ? 'npm.cmd' : 'npm', ['ci', '--no-fund', '--no-audit', '--loglevel=error'], {
    cwd: root,
    stdio: 'inherit',
    shell: windows,
  });
  if (install.status !== 0) {
    console.error('npm ci failed. Check the network and the npm registry, then run this again.');
    process.exit(install.status ?? 1);
  }
  writeFileSync(stamp, wanted);
}

const [script, ...args] = process.argv.slice(2);
const local = path.join(root, 'node_modules', 'node', 'bin', windows ? 'node.exe' : 'node');
const node = existsSync(local) ? local : process.execPath;
// Compiled modules are kept between runs, as bin/assay.js does it.
const NODE_COMPILE_CACHE = process.env.NODE_COMPILE_CACHE ?? path.join(tmpdir(), 'node-compile-cache');
const PATH = `${path.dirname(node)}${path.delimiter}${process.env.PATH ?? ''}`;
const env = { ...process.env, NODE_COMPILE_CACHE, PATH };
const run = spawnSync(node, [path.resolve(root, script), ...args], { cwd: root, stdio: 'inherit', env });
process.exit(run.status ?? 130);
