import { setTimeout as sleep } from 'node:timers/promises';

const TRANSIENT_STATES = new Set(['57P01', '57P02', '57P03', '40001', '40P01', '53300', '55P03', 'XX000']);
/** A name that does not resolve: a typo, or a container that is being restarted. */
const UNRESOLVED_CODES = new Set(['ENOTFOUND', 'EAI_AGAIN']);
const TRANSIENT_CODES = new Set([
  ...UNRESOLVED_CODES,
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
]);
const TRANSIENT_TEXT =
  /terminated|timeout exceeded when trying to connect|Connection ended|not queryable|server conn|starting up/i;

/** Postgres answered, too late for a trial to keep its time limit. */
export class PostgresSlowError extends Error {
  constructor(waitedMs: number, limitMs: number) {
    super(`Postgres kept the trial waiting for ${Math.round(waitedMs)} of its ${limitMs} ms`);
    this.name = 'PostgresSlowError';
  }
}

/** True for failures that go away when Postgres is back: lost connections, restarts, serialization conflicts. */
export function isTransient(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof PostgresSlowError) return true;
  const code = (error as { code?: unknown }).code;
  if (typeof code === 'string') {
    return TRANSIENT_STATES.has(code) || TRANSIENT_CODES.has(code) || code.startsWith('08');
  }
  if (error instanceof AggregateError) return error.errors.some(isTransient);
  return TRANSIENT_TEXT.test(error.message);
}

/** True for a host whose name does not resolve: before it ever did, waiting does not mend that. */
export function isUnresolved(error: unknown): boolean {
  return error instanceof Error && 'code' in error && UNRESOLVED_CODES.has(String(error.code));
}

/**
 * Runs a database operation again while Postgres is away. The operation must be safe to repeat.
 * @param patienceMs how long to go on; default 60,000. Then the last error is thrown.
 * @param wait resolves after so many milliseconds
 * @param goesAway which failures are waited for; default {@link isTransient}
 */
export async function whileTransient<T>(
  operation: () => Promise<T>,
  patienceMs = 60_000,
  wait: (ms: number) => Promise<unknown> = sleep,
  goesAway: (error: unknown) => boolean = isTransient,
): Promise<T> {
  const deadline = performance.now() + patienceMs;
  for (let delay = 50; ; delay = Math.min(delay * 2, 1_000)) {
    try {
      return await operation();
    } catch (error) {
      if (!goesAway(error) || performance.now() + delay > deadline) throw error;
      await wait(delay);
    }
  }
}
