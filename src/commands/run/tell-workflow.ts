import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { workflowIdOf } from './start-evaluation.ts';
import { whileUnavailable } from '../stack/while-unavailable.ts';

/** Signals the workflow of an evaluation; false when none runs. */
export async function tellWorkflow(
  client: Client,
  evaluationId: string,
  signal: 'pause' | 'setConcurrency',
  value: boolean | number,
): Promise<boolean> {
  const handle = client.workflow.getHandle(workflowIdOf(evaluationId));
  return whileUnavailable(() => handle.signal<[boolean | number]>(signal, value).then(() => true, absent));
}

/** Asks Temporal to cancel the workflow of an evaluation; false when none runs. */
export async function cancelWorkflow(client: Client, evaluationId: string): Promise<boolean> {
  const handle = client.workflow.getHandle(workflowIdOf(evaluationId));
  return whileUnavailable(async () => {
    try {
      if ((await handle.describe()).status.name !== 'RUNNING') return false;
      await handle.cancel();
      return true;
    } catch (error) {
      return absent(error);
    }
  });
}

function absent(error: unknown): false {
  if (error instanceof WorkflowNotFoundError) return false;
  throw error;
}
