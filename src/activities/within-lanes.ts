import { ApplicationFailure, Context } from '@temporalio/activity';
import { CANCEL_FAILURE, STOP_FAILURE } from '../core/failure-types.ts';
import type { Cancellations } from './cancellations.ts';
import type { TrialStepInput, TrialStepResult } from './contract.ts';
import type { ActivityDeps } from './deps.ts';
import type { Step } from './step.ts';
import type { Places } from './places.ts';

/**
 * A shard hands out some trials more than it has lanes, so that the next is here when a lane gets free. It begins when a
 * trial before it has left its lane in this process, and goes back when that takes long or the evaluation stops.
 */
export function withinLanes(
  step: Step,
  {
    readCase,
    places,
    cancellations,
    worker,
  }: Pick<ActivityDeps, 'readCase'> & { places: Places; cancellations: Cancellations; worker: string },
): (input: TrialStepInput) => Promise<TrialStepResult> {
  return async (input) => {
    const { info, cancellationSignal } = Context.current();
    const { lanes, evaluationId, revision } = input;
    // Without lanes the shard counts by itself; so does the workflow code of an older build.
    if (lanes === undefined || info.workflowExecution === undefined) return step(input);
    const of = { evaluationId, revision, shard: info.workflowExecution.runId };
    const called = AbortSignal.any([cancellationSignal, cancellations.signalOf(evaluationId, revision)]);
    const place = { limit: lanes, handedOutAt: info.scheduledTimestampMs };
    const stored = readCase(evaluationId, input.position);
    // Thrown where the step awaits it; a trial that goes back has no use for it.
    stored.catch(() => undefined);
    if (!(await places.enter(of, place, called))) return { n: 'later' };
    let left = false;
    const leave = (): void => {
      if (!left) places.leave(of);
      left = true;
    };
    try {
      const result = await step(input, { stored, leave });
      if (result.stop !== undefined) places.close({ evaluationId, revision });
      // Its lane is not free: it goes on in a step that takes no place.
      if (result.n !== 'done') places.close(of);
      return { ...result, w: worker };
    } catch (error) {
      // Others learn of a stop or a cancellation only with their next heartbeat.
      if (called.aborted || endsEvaluation(error)) places.close({ evaluationId, revision });
      throw error;
    } finally {
      leave();
      places.gone(of);
    }
  };
}

function endsEvaluation(error: unknown): boolean {
  return error instanceof ApplicationFailure && (error.type === STOP_FAILURE || error.type === CANCEL_FAILURE);
}
