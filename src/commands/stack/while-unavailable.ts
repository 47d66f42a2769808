import { setTimeout as sleep } from 'node:timers/promises';
import { isGrpcServiceError, ServiceError } from '@temporalio/client';
import { UserError } from '../../core/errors.ts';

const UNAVAILABLE = 14;
const DEADLINE_EXCEEDED = 4;

/**
 * Repeats a request to Temporal while the server is away, for up to a minute.
 * @throws UserError (exit 4) when it stays away.
 */
export async function whileUnavailable<T>(request: () => Promise<T>, patienceMs = 60_000): Promise<T> {
  const deadline = performance.now() + patienceMs;
  for (let delay = 100; ; delay = Math.min(2_000, delay * 2)) {
    try {
      return await request();
    } catch (error) {
      const cause = error instanceof ServiceError ? error.cause : error;
      const away = isGrpcServiceError(cause) && [UNAVAILABLE, DEADLINE_EXCEEDED].includes(cause.code);
      if (!away) throw error;
      if (performance.now() > deadline) {
        throw new UserError(`Temporal did not answer for ${patienceMs / 1000} s`, {
          exitCode: 4,
          hint: '`assay doctor` shows what is reachable',
          cause: error,
        });
      }
      await sleep(delay);
    }
  }
}
