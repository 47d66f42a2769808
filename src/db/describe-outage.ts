import { EXIT, UserError } from '../core/errors.ts';
import { isTransient } from './transient.ts';

/** disk_full and out_of_memory: the server is there, and cannot work. */
const OUT_OF_RESOURCES = new Set(['53100', '53200']);

/**
 * A failure of Postgres that is nobody's defect: it stayed away, or ran out of disk or memory.
 * @returns an error with exit code 4 that says how to go on; null for every other failure.
 */
export function describeOutage(error: unknown): UserError | null {
  if (!(error instanceof Error)) return null;
  const exhausted = 'code' in error && OUT_OF_RESOURCES.has(String(error.code));
  if (!exhausted && !isTransient(error)) return null;
  return new UserError(`Postgres ${exhausted ? 'cannot go on' : 'does not answer'}: ${messageOf(error)}`, {
    exitCode: EXIT.infrastructure,
    hint: 'What is finished is kept: mend it (`assay doctor` shows what is reachable), then the same command goes on.',
    cause: error,
  });
}

/** Several addresses tried in vain have an empty message of their own. */
function messageOf(error: Error): string {
  const [first] = error instanceof AggregateError ? (error.errors as unknown[]) : [];
  return error.message === '' && first instanceof Error ? first.message : error.message;
}
