import { UserError } from '../core/errors.ts';

/** A restart that keeps failing is said again after so long, milliseconds. */
const AGAIN_MS = 60_000;

export interface RestartNotes {
  /** A server was found dead and is being started. */
  died(what: string): void;
  /** The start failed; it will be tried again. */
  failed(error: unknown): void;
  /** Every server runs. */
  running(): void;
}

/**
 * What users are told of servers that died: the first death, then a failure a minute, however often it is tried, and
 * that they are back.
 * @param now any clock, milliseconds
 */
export function createRestartNotes(log: (line: string) => void, now: () => number): RestartNotes {
  let saidAt: number | null = null;
  return {
    died(what) {
      if (saidAt === null) log(`${what} ended unexpectedly: starting again on the same data`);
    },
    failed(error) {
      if (saidAt !== null && now() - saidAt < AGAIN_MS) return;
      saidAt = now();
      log(`restarting the embedded stack failed; it is tried again until it works: ${textOf(error)}`);
    },
    running() {
      if (saidAt !== null) log('the embedded stack is back');
      saidAt = null;
    },
  };
}

function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const hint = error instanceof UserError ? error.hint : null;
  return hint === null ? error.message : `${error.message}\n  → ${hint}`;
}
