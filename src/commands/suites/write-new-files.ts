import { lstat, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { UserError } from '../../core/errors.ts';

/**
 * Writes files into a folder, all or none: without `force` a file that is there already stops it before the first write.
 * @param files content by path, relative to the folder
 * @param options.shown the folder as the user named it, for messages
 * @throws UserError when files exist, or the folder cannot be written
 */
export async function writeNewFiles(
  folder: string,
  files: ReadonlyMap<string, string>,
  options: { force: boolean; shown: string },
): Promise<void> {
  const present: string[] = [];
  for (const name of files.keys()) if (await exists(path.join(folder, name))) present.push(name);
  if (present.length > 0 && !options.force) {
    throw new UserError(`${options.shown} already has ${present.join(', ')}`, {
      hint: 'Nothing was written. Name another folder, or overwrite with --force.',
    });
  }
  try {
    for (const [name, content] of files) {
      const target = path.join(folder, name);
      await mkdir(path.dirname(target), { recursive: true });
      await writeFile(target, content);
    }
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error);
    throw new UserError(`${options.shown} cannot be written: ${cause}`, { cause });
  }
}

async function exists(file: string): Promise<boolean> {
  try {
    await lstat(file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return false;
    throw error;
  }
}
