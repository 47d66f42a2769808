import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { EXIT, UserError } from '../core/errors.ts';
import { describeFileError } from './system-error.ts';

/**
 * Makes the folder of the stack, out of Git's sight, where it is not there yet.
 * @throws UserError exit code 4: it cannot be written.
 */
export function prepareHome(home: string): void {
  try {
    const isNew = !existsSync(home);
    const created = mkdirSync(join(home, 'logs'), { recursive: true });
    // Postgres, which root runs as another user, must be able to enter whatever the umask says; its data is 0700.
    // Databases and logs are nobody's commit. A folder that was there already is the user's own to arrange.
    if (isNew) writeFileSync(join(home, '.gitignore'), '*\n');
    if (created !== undefined && process.getuid?.() === 0) {
      for (const folder of [home, join(home, 'logs')]) chmodSync(folder, 0o755);
    }
  } catch (error) {
    const described = describeFileError(error, home);
    if (described instanceof UserError) throw described;
    throw new UserError(`Cannot use ${home} as Assay's folder: ${String(error)}`, {
      exitCode: EXIT.infrastructure,
      hint: 'Choose another folder with ASSAY_HOME.',
      cause: error,
    });
  }
}
