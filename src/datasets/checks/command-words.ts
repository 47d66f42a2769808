import { stat } from 'node:fs/promises';
import { isAbsolute, join, resolve } from 'node:path';
import { resolveInside } from '../safe-path.ts';
import type { SuiteFolder } from '../suite-parts.ts';

/** A word of a command line that may not be there. */
interface WrongWord {
  /** Place in the command, 0 = the program. */
  at: number;
  error: string;
}

/**
 * Words of a command line that name what is not in the suite's folder: a program named by its path that is not there or
 * leads out, and arguments that are files outside. A program named without a slash or absolutely is the machine's; words
 * that are no file are words.
 * @param cwd folder of the command, relative to the root
 */
export async function outsideWords(
  command: readonly string[],
  cwd: string,
  folder: Pick<SuiteFolder, 'root' | 'allowOutside'>,
): Promise<WrongWord[]> {
  const wrong: WrongWord[] = [];
  for (const [at, word] of command.entries()) {
    if (isAbsolute(word)) continue;
    const named = join(cwd, word);
    const program = at === 0 && (word.startsWith('.') || /^[^/\\]+[/\\]/.test(word));
    if (!program && (at === 0 || !(await isFile(join(folder.root, named))))) continue;
    const safe = await resolveInside(folder.root, named, folder.allowOutside);
    if (!safe.ok) wrong.push({ at, error: safe.error });
  }
  return wrong;
}

/** Names of files that interpreters are given: a word that ends so and is no option is meant as one. */
const SCRIPT = /^[^-=:@\s][^=:@\s]*\.(?:py|js|mjs|cjs|ts|mts|sh|bash|rb|pl|php|lua|jar|exe|ps1|r|jl)$/i;

/**
 * Places of the arguments of a command line that look like a script and are not there: of the first such one only, since
 * what follows may be the script's own.
 * @param cwd folder of the command, relative to the root
 */
export async function missingScript(
  command: readonly string[],
  cwd: string,
  root: string,
): Promise<{ at: number; word: string } | null> {
  const at = command.findIndex((word, i) => i > 0 && SCRIPT.test(word));
  const word = command[at];
  if (word === undefined || (await exists(resolve(root, cwd, word)))) return null;
  return { at, word };
}

function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isFile(),
    () => false,
  );
}
