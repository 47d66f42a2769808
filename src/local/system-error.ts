import { EXIT, UserError } from '../core/errors.ts';

/** Is this a system error with one of these codes (`ENOENT`, `EACCES`, …)? */
export function hasCode(error: unknown, ...codes: string[]): boolean {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && codes.includes(error.code);
}

/**
 * Turns the file-system errors a user can mend (disk full, read-only, no permission) into a `UserError` with exit
 * code 4; any other error is returned as it is.
 */
export function describeFileError(error: unknown, path: string): unknown {
  const cause = { cause: error, exitCode: EXIT.infrastructure };
  if (hasCode(error, 'ENOSPC', 'EDQUOT')) {
    return new UserError(`No space left on the disk that holds ${path}.`, {
      ...cause,
      hint: 'Free some space (a stack needs about 200 MB to start), or choose another folder with ASSAY_HOME.',
    });
  }
  if (hasCode(error, 'EROFS', 'EACCES', 'EPERM')) {
    return new UserError(`Cannot write to ${path}.`, {
      ...cause,
      hint: 'Make the folder writable for this user, or choose another one with ASSAY_HOME.',
    });
  }
  if (hasCode(error, 'ENOTDIR', 'EEXIST')) {
    return new UserError(`${path} is needed as a folder, but a file is in its way.`, {
      ...cause,
      hint: 'Move the file away, or choose another folder with ASSAY_HOME.',
    });
  }
  return error;
}

const DISK_FULL = /no space left on device|database or disk is full|disk quota exceeded/i;

/**
 * Turns the failed start of a server into the error of a full disk where that is what the server says; any other error
 * is returned as it is.
 * @param said what the server wrote
 */
export function describeServerFailure(error: unknown, said: string, path: string): unknown {
  return DISK_FULL.test(said) ? describeFileError(Object.assign(new Error(said), { code: 'ENOSPC' }), path) : error;
}
