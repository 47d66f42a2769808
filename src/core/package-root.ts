import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * The folder of our own package.json: `prompts/`, `migrations/` and `examples/` stand there, whether this runs from `src/`
 * or from `dist/src/`.
 * @param start folder of the module that asks (`import.meta.dirname`)
 */
export function packageRoot(start: string): string {
  for (let folder = start; ; folder = dirname(folder)) {
    const manifest = join(folder, 'package.json');
    if (existsSync(manifest)) {
      const parsed: unknown = JSON.parse(readFileSync(manifest, 'utf8'));
      if (typeof parsed === 'object' && parsed !== null && 'name' in parsed && parsed.name === 'assay') return folder;
    }
    if (dirname(folder) === folder) {
      throw new Error(`No package.json of "assay" above ${start}: the installation is incomplete`);
    }
  }
}
