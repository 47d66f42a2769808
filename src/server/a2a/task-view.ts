import { type Artifact, Message, type Task, TaskState } from '@a2a-js/sdk';
import { hashText } from '../../core/hash.ts';
import type { A2aTaskRow } from '../../db/a2a-tasks.ts';
import type { Db } from '../../db/connect.ts';
import { type EvaluationRow, findEvaluation } from '../../db/evaluations.ts';
import { whileTransient } from '../../db/transient.ts';
import { agentMessage } from './parts.ts';
import type { Served } from './served.ts';

const SETTLED: ReadonlySet<TaskState> = new Set([
  TaskState.TASK_STATE_COMPLETED,
  TaskState.TASK_STATE_FAILED,
  TaskState.TASK_STATE_CANCELED,
  TaskState.TASK_STATE_REJECTED,
]);

export function isTerminal(state: TaskState): boolean {
  return SETTLED.has(state);
}

/** True when nothing happens in the task before somebody else does something. */
export function isSettled(task: Task): boolean {
  const state = stateOf(task);
  return isTerminal(state) || state === TaskState.TASK_STATE_INPUT_REQUIRED;
}

export function stateOf(task: Task): TaskState {
  return task.status?.state ?? TaskState.TASK_STATE_UNSPECIFIED;
}

interface Status {
  state: TaskState;
  text: string;
  at: Date;
  artifacts: Artifact[];
}

/** The task as a client sees it now, from stored rows alone: any server process gives the same. */
export async function viewTask(db: Db, served: Served, row: A2aTaskRow): Promise<Task> {
  const { id, evaluation_id: evaluationId } = row;
  const evaluation = evaluationId === null ? null : await whileTransient(() => findEvaluation(db, evaluationId));
  const status = evaluation === null ? statusWithout(row) : await statusOf(served, row, evaluation);
  const place = { taskId: id, contextId: row.context_id };
  const { state, text, at } = status;
  return {
    id,
    contextId: row.context_id,
    status: {
      state,
      message:
        text === '' ? undefined : agentMessage(place, `${id}/${hashText(`${state} ${text}`).slice(0, 16)}`, text),
      timestamp: at.toISOString(),
    },
    artifacts: status.artifacts,
    history: row.history.map((message) => Message.fromJSON(message)),
    metadata: evaluationId === null ? undefined : { evaluationId },
  };
}

/** Before there is an evaluation. */
function statusWithout(row: A2aTaskRow): Status {
  const states = {
    waiting: TaskState.TASK_STATE_INPUT_REQUIRED,
    canceled: TaskState.TASK_STATE_CANCELED,
    rejected: TaskState.TASK_STATE_REJECTED,
    started: TaskState.TASK_STATE_SUBMITTED,
  };
  return { state: states[row.state], text: row.note ?? '', at: row.updated_at, artifacts: [] };
}

async function statusOf(served: Served, row: A2aTaskRow, evaluation: EvaluationRow): Promise<Status> {
  const at = new Date(Math.max(row.updated_at.getTime(), evaluation.started_at?.getTime() ?? 0));
  switch (evaluation.status) {
    case 'running':
    case 'paused': {
      if (evaluation.started_at === null) return { state: TaskState.TASK_STATE_SUBMITTED, text: '', at, artifacts: [] };
      return { state: TaskState.TASK_STATE_WORKING, text: await served.progress(evaluation), at, artifacts: [] };
    }
    case 'canceled': {
      const text = `canceled; what was finished is kept as evaluation ${evaluation.id}`;
      return { state: TaskState.TASK_STATE_CANCELED, text, at: evaluation.finished_at ?? at, artifacts: [] };
    }
    case 'completed':
    case 'stopped':
      return { ...(await served.end(evaluation)), at: evaluation.finished_at ?? at };
  }
}
