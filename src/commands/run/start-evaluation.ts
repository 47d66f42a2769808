import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import type { EvaluationRow } from '../../db/evaluations.ts';
import { findEvaluation, markEnded } from '../../db/evaluations.ts';
import type { Db } from '../../db/connect.ts';
import type { EvaluationInput } from '../../workflows/evaluation.ts';

export const workflowIdOf = (evaluationId: string): string => `evaluation/${evaluationId}`;

/**
 * Starts the workflow of an evaluation whose rows are committed, or joins the one that runs. Every trial it finds
 * ended in Postgres stays as it is.
 */
export async function startEvaluation(client: Client, taskQueue: string, row: EvaluationRow): Promise<void> {
  const input: EvaluationInput = { evaluationId: row.id };
  await client.workflow.start('evaluation', {
    workflowId: workflowIdOf(row.id),
    taskQueue,
    args: [input],
    workflowIdConflictPolicy: 'USE_EXISTING',
    workflowIdReusePolicy: 'ALLOW_DUPLICATE',
    staticSummary: `${row.suite}: ${row.cases} cases, ${row.planned_trials} trials`.slice(0, 390),
  });
}

const YOUNG_MS = 30_000;
const SECOND_LOOK_MS = 1_500;

/**
 * Finds evaluations that Postgres calls running while their workflow is gone (terminated from outside, or Temporal's
 * database was lost) and stores that, so that they can be resumed. Returns the row as it is afterwards.
 */
export async function reconcile(client: Client, db: Db, row: EvaluationRow): Promise<EvaluationRow> {
  if (row.status !== 'running' && row.status !== 'paused') return row;
  // The workflow starts after the commit: a moment in between is no loss.
  // A clock that is far behind the one of Postgres makes nothing young.
  if (Math.abs(Date.now() - row.created_at.getTime()) < YOUNG_MS) return row;
  if (goesOn(await workflowState(client, row.id))) return row;
  // Between its last write and its end, or between a resume and its start, a workflow looks gone for a moment.
  await sleep(SECOND_LOOK_MS);
  const now = (await findEvaluation(db, row.id)) ?? row;
  if (now.status !== 'running' && now.status !== 'paused') return now;
  const state = await workflowState(client, row.id);
  return goesOn(state) ? now : markLost(db, now, state);
}

const goesOn = (state: string): boolean => state === 'RUNNING' || state === 'CONTINUED_AS_NEW';

async function workflowState(client: Client, evaluationId: string): Promise<string> {
  return client.workflow
    .getHandle(workflowIdOf(evaluationId))
    .describe()
    .then((description) => description.status.name)
    .catch((error: unknown) => {
      if (error instanceof WorkflowNotFoundError) return 'NOT_FOUND';
      throw error;
    });
}

/** Stores that the workflow of an evaluation has gone; an evaluation that was resumed meanwhile is left alone. */
export async function markLost(db: Db, row: EvaluationRow, state: string): Promise<EvaluationRow> {
  const message =
    state === 'NOT_FOUND'
      ? 'Temporal does not know this evaluation (its database was lost or has forgotten it)'
      : `its workflow ended from outside (${state.toLowerCase()})`;
  const stop = { kind: 'terminated', message: `${message}; \`assay resume ${row.id}\` goes on` } as const;
  const { revision } = row;
  await markEnded(db, row.id, { status: 'stopped', stop, exitCode: 3, verdict: `Incomplete: ${message}`, revision });
  return (await findEvaluation(db, row.id)) ?? row;
}
