import { type Artifact, Message, type Task, TaskState } from '@a2a-js/sdk';
import { hashText } from '../../core/hash.ts';
import type { A2aTaskRow, ListedA2aTask } from '../../db/a2a-tasks.ts';
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

const STATES_WITHOUT: Record<A2aTaskRow['state'], TaskState> = {
  waiting: TaskState.TASK_STATE_INPUT_REQUIRED,
  canceled: TaskState.TASK_STATE_CANCELED,
  rejected: TaskState.TASK_STATE_REJECTED,
  started: TaskState.TASK_STATE_SUBMITTED,
};

/** The state {@link viewTask} gives, from a row of a list. */
export function stateOfListed(served: Pick<Served, 'stateOfEnd'>, task: Omit<ListedA2aTask, 'changed_at'>): TaskState {
  const status = task.evaluation_status;
  if (task.state !== 'started' || status === null) return STATES_WITHOUT[task.state];
  switch (status) {
    case 'running':
    case 'paused':
      return unendedState(task.begun);
    case 'canceled':
      return TaskState.TASK_STATE_CANCELED;
    case 'completed':
    case 'stopped':
      return served.stateOfEnd({ status, finalStatus: task.final_status });
  }
}

function unendedState(begun: boolean): TaskState {
  return begun ? TaskState.TASK_STATE_WORKING : TaskState.TASK_STATE_SUBMITTED;
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
  // A task that waits for the client keeps its ended evaluation, and may be canceled then.
  const isEvaluated = row.state === 'started' && evaluationId !== null;
  const evaluation = isEvaluated ? await whileTransient(() => findEvaluation(db, evaluationId)) : null;
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
  return { state: STATES_WITHOUT[row.state], text: row.note ?? '', at: row.updated_at, artifacts: [] };
}

async function statusOf(served: Served, row: A2aTaskRow, evaluation: EvaluationRow): Promise<Status> {
  const at = new Date(Math.max(row.updated_at.getTime(), evaluation.started_at?.getTime() ?? 0));
  switch (evaluation.status) {
    case 'running':
    case 'paused': {
      const begun = evaluation.started_at !== null;
      return { state: unendedState(begun), text: begun ? await served.progress(evaluation) : '', at, artifacts: [] };
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
