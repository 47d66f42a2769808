import { randomUUID } from 'node:crypto';
import { Message, type Task } from '@a2a-js/sdk';
import { TaskNotCancelableError, UnsupportedOperationError } from '@a2a-js/sdk/errors';
import { TaskState } from '@a2a-js/sdk';
import { bringToRest } from '../../commands/run/cancel-evaluation.ts';
import { startEvaluation } from '../../commands/run/start-evaluation.ts';
import { whileUnavailable } from '../../commands/stack/while-unavailable.ts';
import type { CommandContext } from '../../commands/context.ts';
import type { Session } from '../../commands/session.ts';
import { UserError } from '../../core/errors.ts';
import type { Json } from '../../core/json.ts';
import {
  type A2aTaskRow,
  a2aTasksOfContext,
  changeA2aTask,
  countRunningA2aTasks,
  insertA2aTask,
} from '../../db/a2a-tasks.ts';
import type { NewA2aPush } from '../../db/a2a-pushes.ts';
import type { Db } from '../../db/connect.ts';
import { insertEvaluation, type NewEvaluation } from '../../db/create-evaluation.ts';
import { type EvaluationRow, requireEvaluation } from '../../db/evaluations.ts';
import { agentMessage } from './parts.ts';
import type { Plan, Served } from './served.ts';
import { isTerminal, stateOf } from './task-view.ts';

export interface TaskStarter {
  /**
   * Takes a message into a task, a new one for `task` null: its evaluation is stored and started, or the task waits for
   * what is missing, or the message is answered without a task.
   */
  take(message: Message, task: A2aTaskRow | null, push: NewA2aPush | null): Promise<Taken>;
  /** @throws TaskNotCancelableError when it has ended, by a cancel or otherwise */
  cancel(row: A2aTaskRow, view: Task): Promise<void>;
}

/** The task a message went into, or the message that answers it. */
export type Taken = { taskId: string } | { reply: Message };

export interface TaskStarterDeps {
  context: CommandContext;
  session: Session;
  served: Served;
  /** Tasks that may run at once; more are rejected. */
  maxTasks: number;
  /** True when a worker of this process carries out what is asked of evaluations. */
  ownWorker: boolean;
}

export function createTaskStarter(deps: TaskStarterDeps): TaskStarter {
  const { session, served, context } = deps;
  const inTurn = oneAfterAnother();
  return {
    async take(message, task, push) {
      const id = task?.id ?? randomUUID();
      const contextId = task?.context_id ?? (message.contextId === '' ? randomUUID() : message.contextId);
      const earlier = await a2aTasksOfContext(session.db, served.key, contextId);
      const outcome = await planOf(deps, { message, task, context: earlier });
      const history = [...historyOf(task), Message.toJSON({ ...message, taskId: id, contextId }) as Json];
      const place = { id, contextId, task, history, push };
      if (outcome.kind === 'reply') {
        return { reply: agentMessage({ taskId: '', contextId }, randomUUID(), outcome.text) };
      }
      if (outcome.kind !== 'start') await settle(deps, place, outcome);
      else {
        // Counted and stored in turn: messages that come together would all find the same place free.
        const row = await inTurn(() => admit(deps, place, outcome.wanted));
        const { client, config } = session;
        if (row !== null) await whileUnavailable(() => startEvaluation(client, config.taskQueue, row));
      }
      return { taskId: id };
    },
    async cancel(row, view) {
      const state = stateOf(view);
      // One that is canceled too: the protocol's list of what cannot be canceled names it (0.3, 8.2; 1.0, 3.3.2).
      if (isTerminal(state)) throw new TaskNotCancelableError(`Task ${row.id} has ended.`);
      if (state === TaskState.TASK_STATE_INPUT_REQUIRED || row.evaluation_id === null) {
        await changeA2aTask(session.db, row.id, { state: 'canceled', note: 'canceled' }, row);
        return;
      }
      const evaluation = await requireEvaluation(session.db, row.evaluation_id);
      const patience = { forWorkers: deps.ownWorker ? 30_000 : 5_000, inAll: 60_000, ownWorker: !deps.ownWorker };
      await bringToRest(context, session, evaluation, patience);
    },
  };
}

type Outcome = Plan | { kind: 'reject'; reason: string };

async function planOf(deps: TaskStarterDeps, turn: Parameters<Served['plan']>[0]): Promise<Outcome> {
  try {
    return await deps.served.plan(turn);
  } catch (error) {
    // The suite or its surroundings are not as they must be: the client cannot mend that, and must know.
    if (error instanceof UserError) return { kind: 'reject', reason: error.message };
    throw error;
  }
}

interface Place {
  id: string;
  contextId: string;
  task: A2aTaskRow | null;
  history: Json[];
  push: NewA2aPush | null;
}

/** What was said so far, the question the task waited with included. */
function historyOf(task: A2aTaskRow | null): Json[] {
  if (task === null) return [];
  const { history, note, state, id, context_id: contextId } = task;
  if (state !== 'waiting' || note === null) return history;
  const question = agentMessage({ taskId: id, contextId }, `${id}/question/${history.length}`, note);
  return [...history, Message.toJSON(question) as Json];
}

/**
 * Evaluation and task are committed together, before the workflow is started, so that a death in between loses nothing:
 * see `recoverTasks`.
 * @returns the evaluation to start; null: too many tasks run, and this one is rejected
 */
async function admit(deps: TaskStarterDeps, place: Place, wanted: NewEvaluation): Promise<EvaluationRow | null> {
  const { db } = deps.session;
  const running = await countRunningA2aTasks(db, deps.served.key);
  if (running >= deps.maxTasks) {
    const reason = `${running} tasks are running, which is as many as this server takes; try later`;
    await settle(deps, place, { kind: 'reject', reason });
    return null;
  }
  await db.transaction().execute(async (tx) => {
    await insertEvaluation(tx, wanted);
    const stored = await store(tx, deps.served, place, { state: 'started', note: null, evaluation_id: wanted.id });
    if (!stored) throw new UnsupportedOperationError(`Task ${place.id} has got another message meanwhile.`);
  });
  return requireEvaluation(db, wanted.id);
}

/** Runs what it is given one after another; a failure is that one's own. */
function oneAfterAnother(): <Result>(work: () => Promise<Result>) => Promise<Result> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const result = last.then(work);
    last = result.catch(() => undefined);
    return result;
  };
}

async function settle(
  deps: TaskStarterDeps,
  place: Place,
  outcome: Exclude<Outcome, { kind: 'start' | 'reply' }>,
): Promise<void> {
  const change =
    outcome.kind === 'ask'
      ? { state: 'waiting' as const, note: outcome.question }
      : { state: 'rejected' as const, note: outcome.reason };
  const stored = await store(deps.session.db, deps.served, place, { ...change, evaluation_id: null });
  if (!stored) throw new UnsupportedOperationError(`Task ${place.id} has got another message meanwhile.`);
}

async function store(
  db: Db,
  served: Served,
  { id, contextId, task, history, push }: Place,
  change: Pick<A2aTaskRow, 'state' | 'note' | 'evaluation_id'>,
): Promise<boolean> {
  if (task !== null) {
    return changeA2aTask(db, id, { ...change, ...(push === null ? {} : { push }), history }, task);
  }
  const configs = push === null ? [] : [push.config];
  await insertA2aTask(db, { id, context_id: contextId, served: served.key, history, push_configs: configs, ...change });
  return true;
}
