import { isTransient, isUnresolved, whileTransient } from './transient.ts';

/** How long a command waits for a Postgres that is away, in milliseconds: longer than a restart takes. */
export const COMMAND_PATIENCE_MS = 30_000;
/** After how long it says so. */
const QUIET_MS = 1_000;

export interface PatienceOptions {
  /** Gets one line for each time Postgres is away for longer than a second. */
  log: (line: string) => void;
  /** Bound for one operation, in milliseconds. Default {@link COMMAND_PATIENCE_MS}. */
  forMs?: number;
  /** Milliseconds that only grow. Default `performance.now`. */
  now?: () => number;
  /** Resolves after so many milliseconds. */
  wait?: (ms: number) => Promise<unknown>;
}

/**
 * Runs an operation again while Postgres is away; then its last error is thrown. It must be safe to repeat.
 * A host that never resolved is not waited for.
 */
export type Patience = <T>(operation: () => Promise<T>) => Promise<T>;

/** One for everything that asks the same Postgres: what is waited for is said once, however many wait. */
export function createPatience(options: PatienceOptions): Patience {
  const { log, forMs = COMMAND_PATIENCE_MS, now = () => performance.now(), wait } = options;
  let away: { since: number; told: boolean } | null = null;
  let resolved = false;
  const goesAway = (error: unknown): boolean => isTransient(error) && (resolved || !isUnresolved(error));
  const note = (error: unknown): void => {
    away ??= { since: now(), told: false };
    if (away.told || now() - away.since < QUIET_MS) return;
    away.told = true;
    log(`waiting for Postgres, at most ${Math.round(forMs / 1_000)} s (${messageOf(error)})`);
  };
  return async (operation) =>
    whileTransient(
      async () => {
        try {
          const value = await operation();
          away = null;
          resolved = true;
          return value;
        } catch (error) {
          resolved ||= !isUnresolved(error);
          if (goesAway(error)) note(error);
          throw error;
        }
      },
      forMs,
      wait,
      goesAway,
    );
}

/** Several addresses tried in vain have an empty message of their own. */
function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return messageOf(error.errors[0]);
  return error instanceof Error ? error.message : String(error);
}
