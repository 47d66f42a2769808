import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import path from 'node:path';
import { buildWorkflowBundle } from '../src/local/workflow-bundle.ts';

/** `npm run build`: compiles to dist/ and bundles the workflows, so that the package needs no TypeScript to run. */
const root = path.resolve(import.meta.dirname, '..');
const compiler = path.join(root, 'node_modules/typescript/bin/tsc');

function compile(project: string): void {
  const args = [compiler, '-p', path.join(root, project)];
  const { status } = spawnSync(process.execPath, args, { stdio: 'inherit' });
  if (status === 0) return;
  // No half of a build: bin/assay.js would start it.
  rmSync(path.join(root, 'dist'), { recursive: true, force: true });
  process.exit(status ?? 1);
}

rmSync(path.join(root, 'dist'), { recursive: true, force: true });
compile('tsconfig.build.json');
// Declarations of the public types alone, and of what those name.
compile('tsconfig.types.json');
await buildWorkflowBundle(path.join(root, 'dist/workflow-bundle.js'));
