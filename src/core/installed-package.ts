import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Where Assay stands. */
export interface InstalledPackage {
  /** Folder of its package.json, with `prompts/` and `examples/`. */
  root: string;
  /** Folder of what runs, with `src/` and `migrations/`: the root in a checkout, its `dist/` in the package. */
  code: string;
  version: string;
}

/**
 * Our own package, whether this runs from `src/` or from `dist/src/`.
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
