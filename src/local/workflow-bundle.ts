import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode } from '@temporalio/worker';
import { codeFile, installedPackage } from '../core/installed-package.ts';

const source = installedPackage().code;

/**
 * The workflow code as one file. The package ships it; in a checkout it is built once for each content of the workflow
 * sources and kept in the cache folder.
 * @param cacheFolder where bundles of a checkout are kept.
 */
export async function workflowBundle(cacheFolder: string): Promise<{ codePath: string }> {
  const shipped = path.join(source, 'workflow-bundle.js');
  if (existsSync(shipped)) return { codePath: shipped };
  const codePath = path.join(cacheFolder, `workflow-bundle-${sourceHash()}.js`);
  if (!existsSync(codePath)) await buildWorkflowBundle(codePath);
  return { codePath };
}

/** Bundles the workflows into a file; another process may do the same at the same time. */
export async function buildWorkflowBundle(codePath: string): Promise<void> {
  const workflowsPath = codeFile('src/workflows/index');
  const silent = (): void => undefined;
  const logger = { log: silent, trace: silent, debug: silent, info: silent, warn: silent, error: silent };
  const { code } = await bundleWorkflowCode({ workflowsPath, logger });
  mkdirSync(path.dirname(codePath), { recursive: true });
  const draft = `${codePath}.${process.pid}`;
  writeFileSync(draft, code);
  renameSync(draft, codePath);
}

function sourceHash(): string {
  const hash = createHash('sha256');
  for (const folder of ['src/workflows', 'src/core', 'src/statistics']) {
    for (const file of readdirSync(path.join(source, folder)).sort()) {
      hash.update(file).update(readFileSync(path.join(source, folder, file)));
    }
  }
  // Bundle and worker must be of one version of the SDK.
  return hash.update(sdkVersion()).digest('hex').slice(0, 16);
}

function sdkVersion(): string {
  const entry = fileURLToPath(import.meta.resolve('@temporalio/worker'));
  const manifest = JSON.parse(readFileSync(path.resolve(entry, '../../package.json'), 'utf8')) as { version: string };
  return manifest.version;
}
