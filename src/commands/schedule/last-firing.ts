import {
  type ScheduleExecutionResult,
  WorkflowFailedError,
  type WorkflowHandle,
  WorkflowNotFoundError,
} from '@temporalio/client';
import type { Session } from '../session.ts';
import { whileUnavailable } from '../stack/while-unavailable.ts';

/** What became of the last time a schedule fired. */
export interface Firing {
  /** ISO 8601. */
  at: string;
  workflow_id: string;
  /** As Temporal names it, in lower case: running, completed, failed, timed_out, terminated, canceled. */
  status: string;
  /** Why it did not complete; null while it runs and when it completed. */
  message: string | null;
}

/**
 * The last firing of a schedule, from Temporal: a firing that failed before it made an evaluation is in no table.
 * @returns null when it never fired, or so long ago that Temporal has forgotten it
 */
export async function lastFiring(
  session: Session,
  actions: readonly ScheduleExecutionResult[],
): Promise<Firing | null> {
  const last = actions.at(-1);
  if (last === undefined) return null;
  const { workflowId, firstExecutionRunId } = last.action.workflow;
  const handle = session.client.workflow.getHandle(workflowId, firstExecutionRunId);
  try {
    const { status } = await whileUnavailable(() => handle.describe());
    const name = status.name.toLowerCase();
    const ended = name !== 'running' && name !== 'completed' && name !== 'continued_as_new';
    return {
      at: last.takenAt.toISOString(),
      workflow_id: workflowId,
      status: name,
      message: ended ? await failureMessage(handle) : null,
    };
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return null;
    throw error;
  }
}

async function failureMessage(handle: WorkflowHandle): Promise<string | null> {
  try {
    await whileUnavailable(() => handle.result());
    return null;
  } catch (error) {
    if (!(error instanceof WorkflowFailedError)) throw error;
    return rootMessage(error);
  }
}

/** The innermost message: those around it say "Activity task failed" and the like. */
export function rootMessage(error: Error): string {
  let message = error.message;
  for (let cause = error.cause; cause instanceof Error; cause = cause.cause) message = cause.message || message;
  return message;
}
