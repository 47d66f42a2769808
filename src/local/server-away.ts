/** The client's words for one more attempt of one of its calls; a worker has some twenty of them open. */
const ATTEMPT = /^gRPC call \w+ retried \d+ times/;

/** While the server stays away it is said again after so long, milliseconds. */
const AGAIN_MS = 60_000;

/**
 * Makes one line of the many that a Temporal client prints while its server is away.
 * @param now any clock, milliseconds
 * @returns what to print in place of a message; null: nothing.
 */
export function createAwayFilter(now: () => number): (message: string) => string | null {
  let saidAt = Number.NEGATIVE_INFINITY;
  return (message) => {
    if (!ATTEMPT.test(message)) return message;
    if (now() - saidAt < AGAIN_MS) return null;
    saidAt = now();
    return 'Temporal does not answer; the worker keeps trying and goes on when it is back';
  };
}

/**
 * Makes one line of the many that a Postgres which ends or restarts causes: each connection of a pool says it, twice.
 * @param now any clock, milliseconds
 * @returns what to print for an error of a connection; null: nothing.
 */
export function createConnectionNotes(now: () => number): (error: Error) => string | null {
  let saidAt = Number.NEGATIVE_INFINITY;
  return (error) => {
    if (now() - saidAt < AGAIN_MS) return null;
    saidAt = now();
    return `Postgres ended connections (${error.message}); new ones are made when they are needed`;
  };
}
