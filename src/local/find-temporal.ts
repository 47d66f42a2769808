import { accessSync, constants, existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { cacheFolder } from '../core/cache-folder.ts';
import { EXIT, UserError } from '../core/errors.ts';
import { searchPath, type Env } from './env.ts';

/** The Temporal CLI Assay installs (it contains Temporal Server 1.29.1). Newer tags cannot be installed with `go install`. */
export const TEMPORAL_CLI_VERSION = 'v1.5.1';

/** Name of an executable on this platform. */
export function executable(name: string): string {
  return process.platform === 'win32' ? `${name}.exe` : name;
}

/** Where the cached Temporal CLI is, whether or not it is there. */
export function cachedTemporal(env: Env): string {
  return join(cacheFolder(env), 'temporal', TEMPORAL_CLI_VERSION, executable('temporal'));
}

/**
 * The Temporal CLI that is on this machine already: named by `ASSAY_TEMPORAL_BIN`, on PATH, or cached.
 * @returns null when there is none.
 * @throws UserError exit code 4, when the named one is not an executable file.
 */
export function findInstalledTemporal(env: Env, named?: string): string | null {
  const chosen = named ?? env['ASSAY_TEMPORAL_BIN'];
  if (chosen !== undefined && chosen !== '') {
    if (isExecutable(chosen)) return chosen;
    throw new UserError(`ASSAY_TEMPORAL_BIN names ${chosen}, which is not an executable file.`, {
      exitCode: EXIT.infrastructure,
      hint: 'Correct the path, or unset it to let Assay find or install the Temporal CLI.',
    });
  }
  return findOnPath('temporal', env) ?? (isExecutable(cachedTemporal(env)) ? cachedTemporal(env) : null);
}

/** First executable of this name on PATH; null when there is none. */
export function findOnPath(name: string, env: Env): string | null {
  for (const folder of (searchPath(env) ?? '').split(delimiter)) {
    if (folder === '') continue;
    const path = join(folder, executable(name));
    if (isExecutable(path)) return path;
  }
  return null;
}

function isExecutable(path: string): boolean {
  if (!existsSync(path)) return false;
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    // accessSync answers by throwing.
    return false;
  }
}
