import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import path from 'node:path';
import { buildWorkflowBundle } from '../src/local/workflow-bundle.ts';

/** `npm run build`: compiles to dist/ and bundles the workflows, so that the package needs no TypeScript to run. */
const root = path.resolve(import.meta.dirname, '..');
rmSync(path.join(root, 'dist'), { recursive: true, force: true });
const compiler = path.join(root, 'node_modules/typescript/bin/tsc');
const compiled = spawnSync(process.execPath, [compiler, '-p', path.join(root, 'tsconfig.build.json')], {
  stdio: 'inherit',
});
if (compiled.status !== 0) process.exit(compiled.status ?? 1);
await buildWorkflowBundle(path.join(root, 'dist/workflow-bundle.js'));
