import { ApplicationFailure, CancelledFailure, Context } from '@temporalio/activity';
import { isTransient } from '../db/transient.ts';
import { INTERNAL_FAILURE } from '../core/failure-types.ts';

/** Tries before an error that is not an outage is taken for one of ours. */
const TRIES = 3;

/**
 * Temporal repeats a failed activity for ever, which is right while Postgres is away. An error that has nothing to do
 * with an outage comes back every time: it ends the activity after a few tries.
 */
export function boundedRetries<I, O>(activity: (input: I) => Promise<O>): (input: I) => Promise<O> {
  return async (input) => {
    try {
      return await activity(input);
    } catch (error) {
      const { attempt } = Context.current().info;
      if (
        error instanceof ApplicationFailure ||
        error instanceof CancelledFailure ||
        isTransient(error) ||
        attempt < TRIES
      )
        throw error;
      throw ApplicationFailure.nonRetryable(error instanceof Error ? error.message : String(error), INTERNAL_FAILURE);
    }
  };
}
