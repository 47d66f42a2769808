import { ApplicationFailure, Context } from '@temporalio/activity';
import { CANCEL_FAILURE, STOP_FAILURE } from '../core/failure-types.ts';
import type { Cancellations } from './cancellations.ts';
import type { TrialStepInput, TrialStepResult } from './contract.ts';
import type { Places } from './places.ts';

type Step = (input: TrialStepInput) => Promise<TrialStepResult>;

/**
 * A shard hands out some trials more than it has lanes, so that the next is here when a lane gets free. It begins when a
 * trial before it has ended in this process, and goes back when that takes long or the evaluation stops.
 */
export function withinLanes(
  step: Step,
  { places, cancellations, worker }: { places: Places; cancellations: Cancellations; worker: string },
): Step {
  return async (input) => {
    const { info, cancellationSignal } = Context.current();
    const { lanes, evaluationId, revision } = input;
    // Without lanes the shard counts by itself; so does the workflow code of an older build.
    if (lanes === undefined || info.workflowExecution === undefined) return step(input);
    const of = { evaluationId, revision, shard: info.workflowExecution.runId };
    const called = AbortSignal.any([cancellationSignal, cancellations.signalOf(evaluationId, revision)]);
    const place = { limit: lanes, handedOutAt: info.scheduledTimestampMs };
    if (!(await places.enter(of, place, called))) return { n: 'later' };
    try {
      const result = await step(input);
      if (result.stop !== undefined) places.close({ evaluationId, revision });
      // Its lane is not free: it goes on in a step that takes no place.
      if (result.n !== 'done') places.close(of);
      return { ...result, w: worker };
    } catch (error) {
      // Others learn of a stop or a cancellation only with their next heartbeat.
      if (called.aborted || endsEvaluation(error)) places.close({ evaluationId, revision });
      throw error;
    } finally {
      places.leave(of);
    }
  };
}

function endsEvaluation(error: unknown): boolean {
  return error instanceof ApplicationFailure && (error.type === STOP_FAILURE || error.type === CANCEL_FAILURE);
}
