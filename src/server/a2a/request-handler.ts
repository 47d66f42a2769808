import { setTimeout as sleep } from 'node:timers/promises';
import {
  type AgentCard,
  type CancelTaskRequest,
  type DeleteTaskPushNotificationConfigRequest,
  type GetTaskPushNotificationConfigRequest,
  type GetTaskRequest,
  type ListTaskPushNotificationConfigsRequest,
  type ListTaskPushNotificationConfigsResponse,
  type ListTasksRequest,
  type ListTasksResponse,
  type Message,
  type SendMessageRequest,
  type StreamResponse,
  type SubscribeToTaskRequest,
  type Task,
  type TaskPushNotificationConfig,
  TaskState,
} from '@a2a-js/sdk';
import { RequestMalformedError, TaskNotFoundError, UnsupportedOperationError } from '@a2a-js/sdk/errors';
import type { A2ARequestHandler, ServerCallContext } from '@a2a-js/sdk/server';
import { type A2aTaskRow, findA2aTask } from '../../db/a2a-tasks.ts';
import type { Db } from '../../db/connect.ts';
import { whileTransient } from '../../db/transient.ts';
import { closedSignal } from './client-user.ts';
import { listTasks } from './list-tasks.ts';
import { createPushConfigs, newPush, type PushConfigs, requireRoom } from './push-configs.ts';
import type { Served } from './served.ts';
import { createSharedLook } from './shared-look.ts';
import type { Taken, TaskStarter } from './start-task.ts';
import { isTerminal, stateOf, viewTask } from './task-view.ts';
import { streamTask, watchTask } from './watch-task.ts';

export interface RequestHandlerDeps {
  db: Db;
  served: Served;
  card: AgentCard;
  starter: TaskStarter;
  /** Milliseconds a blocking request is answered after at the latest, with the task as it then is. */
  maxWaitMs: number;
  /** Told of every task that may have something to be pushed. */
  pushed: (taskId: string) => void;
}

/**
 * A2A requests over evaluations: nothing about a task is held in this process, so another one goes on where this one
 * ended. Protocol details (versions, JSON-RPC, HTTP+JSON) are the SDK's.
 */
export function createRequestHandler(deps: RequestHandlerDeps): A2ARequestHandler {
  const tasks = createTaskAccess(deps);
  const configs = createPushConfigs(deps.db, tasks.require);
  return {
    getAgentCard: () => Promise.resolve(deps.card),
    getAuthenticatedExtendedAgentCard: () =>
      Promise.reject(new UnsupportedOperationError('There is no extended agent card.')),
    ...messageMethods(deps, tasks),
    ...taskMethods(deps, tasks),
    ...pushMethods(deps, configs),
  };
}

/** How old what a subscriber sees may be, milliseconds. */
const FRESH_MS = 200;

interface TaskAccess {
  /** @throws TaskNotFoundError, or RequestMalformedError for a blank id */
  require(id: string | null | undefined): Promise<A2aTaskRow>;
  view(row: A2aTaskRow): Promise<Task>;
  /** null: it was deleted. */
  look(id: string): Promise<Task | null>;
}

function createTaskAccess({ db, served }: RequestHandlerDeps): TaskAccess {
  const find = (id: string): Promise<A2aTaskRow | null> => whileTransient(() => findA2aTask(db, served.key, id));
  return {
    async require(id) {
      if (id === null || id === undefined || id.trim() === '')
        throw new RequestMalformedError('A task id is required.');
      const row = await find(id);
      if (row === null) throw new TaskNotFoundError(`Task not found: ${id.slice(0, 100)}`);
      return row;
    },
    view: (row) => viewTask(db, served, row),
    async look(id) {
      const row = await find(id);
      return row === null ? null : viewTask(db, served, row);
    },
  };
}

function messageMethods(
  deps: RequestHandlerDeps,
  tasks: TaskAccess,
): Pick<A2ARequestHandler, 'sendMessage' | 'sendMessageStream'> {
  const start = async (params: SendMessageRequest, context: ServerCallContext): Promise<Taken> => {
    requireExtensions(deps.card, context);
    const message = readMessage(params);
    const task = message.taskId === '' ? null : await tasks.require(message.taskId);
    if (task !== null) requireWaiting(message, task, await tasks.view(task));
    const push = params.configuration?.taskPushNotificationConfig;
    const config = push === undefined ? null : newPush(push, context.requestedVersion);
    if (config !== null && task !== null) requireRoom(task, config);
    const taken = await deps.starter.take(message, task, config);
    if ('taskId' in taken) deps.pushed(taken.taskId);
    return taken;
  };
  return {
    async sendMessage(params, context) {
      const taken = await start(params, context);
      if ('reply' in taken) return taken.reply;
      const look = (): Promise<Task | null> => tasks.look(taken.taskId);
      const wait = params.configuration?.returnImmediately === true ? 0 : deps.maxWaitMs;
      const task = await settledWithin(look, wait, closedSignal(context));
      return withHistory(task, params.configuration?.historyLength);
    },
    async *sendMessageStream(params, context) {
      const taken = await start(params, context);
      if ('reply' in taken) {
        yield { payload: { $case: 'message', value: taken.reply } };
        return;
      }
      const look = (): Promise<Task | null> => tasks.look(taken.taskId);
      yield* streamOf(watchTask(look, closedSignal(context)), params.configuration?.historyLength);
    },
  };
}

function readMessage({ message }: SendMessageRequest): Message {
  if (message === undefined) throw new RequestMalformedError('message is required.');
  if (message.messageId === '') throw new RequestMalformedError('message.messageId is required.');
  return message;
}

/** A task that ended cannot go on, and one that works takes no further message. */
function requireWaiting(message: Message, row: A2aTaskRow, task: Task): void {
  if (message.contextId !== '' && message.contextId !== row.context_id) {
    throw new RequestMalformedError(`message.contextId is not that of task ${row.id}.`);
  }
  if (isTerminal(stateOf(task))) throw new UnsupportedOperationError(`Task ${row.id} has ended; start another one.`);
  if (stateOf(task) !== TaskState.TASK_STATE_INPUT_REQUIRED) {
    throw new UnsupportedOperationError(`Task ${row.id} is working; it takes no message before it asks for one.`);
  }
}

async function settledWithin(look: () => Promise<Task | null>, ms: number, closed: AbortSignal): Promise<Task> {
  const stop = new AbortController();
  const onClosed = (): void => stop.abort();
  const timer = setTimeout(onClosed, ms);
  closed.addEventListener('abort', onClosed, { once: true });
  if (closed.aborted || ms === 0) stop.abort();
  try {
    let last: Task | null = null;
    for await (const task of watchTask(look, stop.signal)) last = task;
    if (last === null) throw new TaskNotFoundError('The task was deleted.');
    return last;
  } finally {
    clearTimeout(timer);
    closed.removeEventListener('abort', onClosed);
  }
}

async function* streamOf(
  tasks: AsyncIterable<Task>,
  historyLength: number | undefined,
): AsyncGenerator<StreamResponse, void, undefined> {
  for await (const event of streamTask(tasks)) {
    if (event.payload?.$case !== 'task') yield event;
    else yield { payload: { $case: 'task', value: withHistory(event.payload.value, historyLength) } };
  }
}

function withHistory(task: Task, length: number | undefined): Task {
  if (length === undefined) return task;
  if (!Number.isInteger(length) || length < 0) throw new RequestMalformedError('historyLength must not be negative.');
  return { ...task, history: length === 0 ? [] : task.history.slice(-length) };
}

function requireExtensions(card: AgentCard, context: ServerCallContext): void {
  for (const uri of context.requestedExtensions ?? []) {
    if (card.capabilities?.extensions.some((one) => one.uri === uri) === true) context.addActivatedExtension(uri);
  }
}

function taskMethods(
  deps: RequestHandlerDeps,
  tasks: TaskAccess,
): Pick<A2ARequestHandler, 'getTask' | 'listTasks' | 'cancelTask' | 'resubscribe'> {
  const lookTogether = createSharedLook(tasks.look, FRESH_MS, (ms) => sleep(ms, undefined, { ref: false }));
  return {
    async getTask(params: GetTaskRequest) {
      return withHistory(await tasks.view(await tasks.require(params.id)), params.historyLength);
    },
    async listTasks(params: ListTasksRequest): Promise<ListTasksResponse> {
      const page = await listTasks(deps.db, deps.served, params, tasks.look);
      const shown = page.tasks.map((task) => withHistory(task, params.historyLength));
      return {
        ...page,
        tasks: shown.map((task) => (params.includeArtifacts === true ? task : { ...task, artifacts: [] })),
      };
    },
    async cancelTask(params: CancelTaskRequest) {
      const row = await tasks.require(params.id);
      await deps.starter.cancel(row, await tasks.view(row));
      deps.pushed(row.id);
      return tasks.view(await tasks.require(params.id));
    },
    async *resubscribe(params: SubscribeToTaskRequest, context) {
      const task = await tasks.view(await tasks.require(params.id));
      if (isTerminal(stateOf(task))) {
        throw new UnsupportedOperationError(`Task ${params.id} has ended; there is nothing to subscribe to.`);
      }
      // A task that waits is subscribed to for what comes after its answer.
      const isEnd = (now: Task): boolean => isTerminal(stateOf(now));
      yield* streamOf(
        watchTask(() => lookTogether(params.id), closedSignal(context), isEnd),
        undefined,
      );
    },
  };
}

function pushMethods(
  deps: RequestHandlerDeps,
  configs: PushConfigs,
): Pick<
  A2ARequestHandler,
  | 'createTaskPushNotificationConfig'
  | 'getTaskPushNotificationConfig'
  | 'listTaskPushNotificationConfigs'
  | 'deleteTaskPushNotificationConfig'
> {
  return {
    async createTaskPushNotificationConfig(params: TaskPushNotificationConfig, context) {
      const stored = await configs.add(params, context.requestedVersion);
      deps.pushed(params.taskId);
      return stored;
    },
    getTaskPushNotificationConfig: (params: GetTaskPushNotificationConfigRequest) =>
      configs.get(params.taskId, params.id),
    async listTaskPushNotificationConfigs(
      params: ListTaskPushNotificationConfigsRequest,
    ): Promise<ListTaskPushNotificationConfigsResponse> {
      return { configs: await configs.list(params.taskId), nextPageToken: '' };
    },
    deleteTaskPushNotificationConfig: (params: DeleteTaskPushNotificationConfigRequest) =>
      configs.remove(params.taskId, params.id),
  };
}
