import { executeChild, proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { createActivities } from '../activities/index.ts';
import { evaluation } from './evaluation.ts';

export interface ScheduledInput {
  scheduleId: string;
  /** Suite file on every worker, absolute or relative to the worker's folder. */
  suitePath: string;
  trials?: number;
  concurrency?: number;
}

const { snapshotSuite } = proxyActivities<ReturnType<typeof createActivities>>({
  startToCloseTimeout: '5 minutes',
  retry: { initialInterval: '2 seconds', maximumInterval: '1 minute', maximumAttempts: 5 },
});

/** What a schedule starts: takes the suite as it is at that moment, then evaluates it. It lasts as long, so that overlap policies hold. */
export async function scheduledEvaluation(input: ScheduledInput): Promise<string> {
  const evaluationId = await snapshotSuite({ ...input, workflowId: workflowInfo().workflowId });
  await executeChild(evaluation, { workflowId: `evaluation/${evaluationId}`, args: [{ evaluationId }] });
  return evaluationId;
}
