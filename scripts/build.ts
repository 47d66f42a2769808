import { spawnSync } from 'node:child_process';
import { readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { rolldown } from 'rolldown';
import { buildWorkflowBundle } from '../src/local/workflow-bundle.ts';

/**
 * `npm run build`: dist/, with which the package needs no TypeScript to run. Our own modules go into few files, for every
 * command starts by loading them; libraries stay where npm puts them.
 */
const root = path.resolve(import.meta.dirname, '..');
const dist = path.join(root, 'dist');

/** What is started or imported by its path. */
const ENTRIES = [
  'src/client',
  'src/index',
  'src/agents/module/module-child',
  'src/commands/suites/score-thread',
  ...readdirSync(path.join(root, 'migrations')).map((file) => `migrations/${path.basename(file, '.ts')}`),
];

async function bundle(): Promise<void> {
  const build = await rolldown({
    input: Object.fromEntries(ENTRIES.map((entry) => [entry, path.join(root, `${entry}.ts`)])),
    external: (id) => !id.startsWith('.') && !path.isAbsolute(id),
    platform: 'node',
    tsconfig: false,
    // A warning here is a defect; that a module is loaded late in one place and at once in another is none.
    onLog(_, { code, message }) {
      if (code !== 'INEFFECTIVE_DYNAMIC_IMPORT') throw new Error(message);
    },
  });
  const { output } = await build.write({
    dir: dist,
    format: 'esm',
    entryFileNames: '[name].js',
    // As deep as src/core/: see installedPackage.
    chunkFileNames: 'src/chunks/[name]-[hash].js',
    comments: { legal: true, annotation: false, jsdoc: false },
  });
  const place = output.find(
    (chunk) => chunk.type === 'chunk' && chunk.moduleIds.some((id) => id.endsWith('installed-package.ts')),
  );
  if (place?.fileName.startsWith('src/chunks/') !== true)
    throw new Error(`installed-package.ts is in ${place?.fileName}: it finds the package by its depth`);
}

/** Declarations of the public types alone, and of what those name. */
function declareTypes(): void {
  const compiler = path.join(root, 'node_modules/typescript/bin/tsc');
  const args = [compiler, '-p', path.join(root, 'tsconfig.types.json')];
  const { status } = spawnSync(process.execPath, args, { stdio: 'inherit' });
  if (status !== 0) throw new Error(`tsc ended with ${status}`);
}

rmSync(dist, { recursive: true, force: true });
try {
  await bundle();
  declareTypes();
  await buildWorkflowBundle(path.join(dist, 'workflow-bundle.js'));
} catch (error) {
  // No half of a build: bin/assay.js would start it.
  rmSync(dist, { recursive: true, force: true });
  throw error;
}
