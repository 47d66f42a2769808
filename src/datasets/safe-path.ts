import { lstat, realpath } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, sep } from 'node:path';
import { unreadable } from './readers/read-text.ts';

export type SafePath = { ok: true; absolute: string } | { ok: false; error: string };

/**
 * A file or folder that a suite names, as an absolute path. Refuses absolute paths, paths that leave the root, and links
 * that lead out of it, unless `allowOutside`; the error says how to allow it.
 * @param root absolute folder of the suite
 */
export async function resolveInside(root: string, path: string, allowOutside: boolean): Promise<SafePath> {
  return resolved(root, path, allowOutside, realpath);
}

/** As {@link resolveInside}, for a file that may have to be made: what is there of its path must not lead out. */
export async function resolveToWrite(root: string, path: string, allowOutside: boolean): Promise<SafePath> {
  if (allowOutside) return { ok: true, absolute: isAbsolute(path) ? path : join(root, path) };
  return resolved(root, path, allowOutside, realPartOf);
}

async function resolved(
  root: string,
  path: string,
  allowOutside: boolean,
  realOf: (absolute: string) => Promise<string>,
): Promise<SafePath> {
  const absolute = isAbsolute(path) ? path : join(root, path);
  if (!allowOutside) {
    if (isAbsolute(path)) return { ok: false, error: `"${path}" is absolute; ${ADVICE}` };
    if (leaves(root, absolute)) return { ok: false, error: `"${path}" leaves the suite's folder; ${ADVICE}` };
  }
  try {
    const real = await realOf(absolute);
    if (!allowOutside && leaves(await realpath(root), real)) {
      return { ok: false, error: `"${path}" is a link that leads out of the suite's folder; ${ADVICE}` };
    }
  } catch (error) {
    return { ok: false, error: `"${path}": ${unreadable(error)} (looked for ${absolute})` };
  }
  return { ok: true, absolute };
}

/** The real path of the nearest part that is there. A link to nothing is there: writing would follow it. */
async function realPartOf(absolute: string): Promise<string> {
  for (let part = absolute; ; part = dirname(part)) {
    try {
      return await realpath(part);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || (await isThere(part))) throw error;
    }
  }
}

function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    (error: unknown) => {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
      throw error;
    },
  );
}

const ADVICE = 'move it under the suite file, or set allow_outside: true in the suite';

function leaves(root: string, target: string): boolean {
  const way = relative(root, target);
  return way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way);
}
