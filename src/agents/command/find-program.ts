import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import { UserError } from '../../core/errors.ts';

/**
 * The program of a command as an absolute path: one with a slash relative to the folder it runs in, another searched for
 * in PATH, as a shell does.
 * @param options.key where the suite names it, for messages: `agent.command`
 * @throws UserError when there is none that can be run
 */
export function findProgram(
  program: string,
  { cwd, env, key }: { cwd: string; env: Readonly<Record<string, string | undefined>>; key: string },
): string {
  const extensions = process.platform === 'win32' ? ['', ...(env['PATHEXT'] ?? '.EXE;.CMD;.BAT').split(';')] : [''];
  const named = /[\\/]/.test(program);
  const folders = named ? [''] : (env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  for (const folder of folders) {
    for (const extension of extensions) {
      const path = named && isAbsolute(program) ? program : named ? resolve(cwd, program) : join(folder, program);
      if (isExecutable(path + extension)) return path + extension;
    }
  }
  throw new UserError(`${key}: there is no program ${JSON.stringify(program)} that can be run`, {
    hint: named
      ? `Looked for ${resolve(cwd, program)}; every worker needs it, and it must be executable.`
      : 'It was looked for in PATH; every worker needs it. Install it, or write its path.',
  });
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOENT' || code === 'EACCES' || code === 'ENOTDIR') return false;
    throw error;
  }
}
