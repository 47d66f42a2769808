import { realpath } from 'node:fs/promises';
import { isAbsolute, join, relative, sep } from 'node:path';
import { unreadable } from './readers/read-text.ts';

export type SafePath = { ok: true; absolute: string } | { ok: false; error: string };

/**
 * A file or folder that a suite names, as an absolute path. Refuses absolute paths, paths that leave the root, and links
 * that lead out of it, unless `allowOutside`; the error says how to allow it.
 * @param root absolute folder of the suite
 */
export async function resolveInside(root: string, path: string, allowOutside: boolean): Promise<SafePath> {
  const absolute = isAbsolute(path) ? path : join(root, path);
  if (!allowOutside) {
    if (isAbsolute(path)) return { ok: false, error: `"${path}" is absolute; ${ADVICE}` };
    if (leaves(root, absolute)) return { ok: false, error: `"${path}" leaves the suite's folder; ${ADVICE}` };
  }
  let real: string;
  try {
    real = await realpath(absolute);
    if (!allowOutside && leaves(await realpath(root), real)) {
      return { ok: false, error: `"${path}" is a link that leads out of the suite's folder; ${ADVICE}` };
    }
  } catch (error) {
    return { ok: false, error: `"${path}": ${unreadable(error)} (looked for ${absolute})` };
  }
  return { ok: true, absolute };
}

const ADVICE = 'move it under the suite file, or set allow_outside: true in the suite';

function leaves(root: string, target: string): boolean {
  const way = relative(root, target);
  return way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way);
}
