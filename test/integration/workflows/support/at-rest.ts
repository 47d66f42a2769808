import type { Client } from '@temporalio/client';
import { workflowIdOf } from '../../../../src/commands/run/start-evaluation.ts';

/**
 * Whether a paused evaluation has come to rest: none of its shards has an activity or a decision before it. No call in
 * flight says less: a pause reaches the shards in moments, and until then there may be none between two trials.
 */
export async function atRest(client: Client, id: string): Promise<boolean> {
  const { raw } = await client.workflow.getHandle(workflowIdOf(id)).describe();
  const shards = (raw.pendingChildren ?? []).map(({ workflowId }) => workflowId ?? '');
  const idle = await Promise.all(
    shards.map(async (shard) => {
      const { raw: of } = await client.workflow.getHandle(shard).describe();
      return (of.pendingActivities ?? []).length === 0 && (of.pendingWorkflowTask ?? null) === null;
    }),
  );
  return idle.length > 0 && idle.every(Boolean);
}
