import { ApplicationFailure, Context } from '@temporalio/activity';
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
    const { lanes, evaluationId } = input;
    // Without lanes: handed out by the workflow code of an older build, which does not look ahead.
    if (lanes === undefined || info.workflowExecution === undefined) return step(input);
    const of = { evaluationId, shard: info.workflowExecution.workflowId };
    const called = AbortSignal.any([cancellationSignal, cancellations.signalOf(evaluationId, input.revision)]);
    if (!(await places.enter(of, lanes, called))) return { n: 'later' };
    try {
      const result = await step(input);
      if (result.stop !== undefined) places.turnAway(evaluationId);
      return { ...result, w: worker };
    } catch (error) {
      // Others learn of a stop or a cancellation only with their next heartbeat.
      if (called.aborted || (error instanceof ApplicationFailure && error.nonRetryable === true))
        places.turnAway(evaluationId);
      throw error;
    } finally {
      places.leave(of);
    }
  };
}
