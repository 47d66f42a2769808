import type { Stack } from './stack.ts';

const QUERY = `ExecutionStatus = 'Running' AND WorkflowType IN ('evaluation', 'scheduledEvaluation')`;

/** Evaluations that are running or paused; null when Temporal cannot say at the moment. */
export async function runningEvaluations(stack: Stack): Promise<number | null> {
  const { Connection } = await import('@temporalio/client');
  try {
    const connection = await Connection.connect({ ...stack.connectionOptions, connectTimeout: '5s' });
    try {
      const answer = await connection.withDeadline(Date.now() + 5000, () =>
        connection.workflowService.countWorkflowExecutions({ namespace: stack.namespace, query: QUERY }),
      );
      return Number(answer.count);
    } finally {
      await connection.close();
    }
  } catch {
    // Unreachable for the moment: it may be restarting. The caller asks again.
    return null;
  }
}
