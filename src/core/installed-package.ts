import { existsSync, readFileSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';

/** Where Assay stands. */
export interface InstalledPackage {
  /** Folder of its package.json, with `prompts/` and `examples/`. */
  root: string;
  /** Folder of what runs, with `src/` and `migrations/`: the root in a checkout, its `dist/` in the package. */
  code: string;
  version: string;
}

/**
 * Our own package, whether this runs from `src/core/` or from a file of `dist/src/chunks/`, which lie as deep.
 * @throws Error when the package.json above this file is not ours: the installation is incomplete.
 */
export function installedPackage(): InstalledPackage {
  const code = dirname(dirname(import.meta.dirname));
  for (const root of [code, dirname(code)]) {
    const manifest = join(root, 'package.json');
    if (!existsSync(manifest)) continue;
    const { name, version } = JSON.parse(readFileSync(manifest, 'utf8')) as Record<string, unknown>;
    if (name === 'assay' && typeof version === 'string') return { root, code, version };
  }
  throw new Error(`No package.json of "assay" above ${code}: the installation is incomplete`);
}

/**
 * A file of our own code that is started by its path: the entry of a process or of a thread.
 * @param entry below the folder of the code, without extension, as `src/client`
 */
export function codeFile(entry: string): string {
  return join(installedPackage().code, `${entry}${extname(import.meta.filename)}`);
}
