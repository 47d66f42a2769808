import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { resolveInside } from './safe-path.ts';

/**
 * Content hashes of the files of the suite's folder that a command line names, by their names: what the program is made of,
 * as far as its command says. Words that are no such file are left out.
 * @param cwd folder of the command, relative to the root
 */
export async function commandFiles(
  command: readonly string[],
  cwd: string,
  root: string,
): Promise<Record<string, string>> {
  const hashes: Record<string, string> = {};
  for (const word of command) {
    const named = path.join(cwd, word);
    // Flags and words of other kinds are no paths here; what lies outside the folder is the machine's.
    const safe = path.isAbsolute(word) ? null : await resolveInside(root, named, false);
    if (safe?.ok === true && (await stat(safe.absolute)).isFile()) hashes[word] = await hashFile(safe.absolute);
  }
  return hashes;
}

/** SHA-256 of a file's bytes; the file is never held as a whole. */
export async function hashFile(file: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file)) hash.update(chunk as Uint8Array);
  return hash.digest('hex');
}
