#!/usr/bin/env node
// Checks the Node version in syntax that old versions understand, then starts the command line.
import { spawn } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import * as nodeModule from 'node:module';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const [major, minor] = process.versions.node.split('.').map(Number);
const here = path.dirname(fileURLToPath(import.meta.url));

if (major < 22 || (major === 22 && minor < 12)) {
  const other = installedNode();
  if (other === null) {
    process.stderr.write(
      `assay needs Node 22.12 or newer; this is ${process.versions.node}.\n  → install it, or add it to the project: npm i -D node@24\n`,
    );
    process.exit(2);
  }
  const child = spawn(other, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], { stdio: 'inherit' });
  // A terminal gives Ctrl-C, and its own end, to every process in front: the child has them already, and would take a
  // second one for "leave at once". Only the wait for the child is protected from them here.
  const hasTerminal = [process.stdin, process.stdout, process.stderr].some((stream) => stream.isTTY);
  for (const signal of ['SIGINT', 'SIGHUP']) process.on(signal, () => hasTerminal || child.kill(signal));
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  child.on('exit', (code, signal) =>
    process.exit(signal === null ? code : signal === 'SIGINT' || signal === 'SIGTERM' ? 130 : 4),
  );
} else {
  // A checkout has the source, and its dist/ may be old; the package has dist/ alone.
  const source = path.join(here, '../src/client.ts');
  const runsSource = existsSync(source) && Boolean(process.features.typescript);
  const entry = runsSource ? source : path.join(here, '../dist/src/client.js');
  if (!existsSync(entry)) {
    process.stderr.write(
      `assay is not complete: ${entry} is missing.\n  → in a checkout: npm run build; else install the package again\n`,
    );
    process.exit(2);
  }
  // Compiled modules are kept between runs. Before the first import: what it loads would be compiled anew each time.
  nodeModule.enableCompileCache();
  const cache = nodeModule.getCompileCacheDir();
  // For the threads of this process and the processes it starts. Node keeps each version's in a folder of its own in there.
  if (cache !== undefined) process.env.NODE_COMPILE_CACHE ??= path.dirname(cache);
  const { start } = await import(pathToFileURL(entry).href);
  await start();
}

/** The Node that `npm i node@24` has put beside us, or null. */
function installedNode() {
  for (const from of [path.join(process.cwd(), 'package.json'), import.meta.url]) {
    try {
      const manifest = nodeModule.createRequire(from).resolve('node/package.json');
      const binary = path.join(path.dirname(manifest), 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
      // Not this one again: it would start itself for ever.
      if (existsSync(binary) && realpathSync(binary) !== realpathSync(process.execPath)) return binary;
    } catch {
      // Not installed there.
    }
  }
  return null;
}
