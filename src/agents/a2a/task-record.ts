import type { Artifact, Message, StreamResponse, Task, TaskStatus } from '@a2a-js/sdk';
import { Role, TaskState } from '@a2a-js/sdk';

/** What is known of the remote work one message led to. */
export interface TaskRecord {
  /** Null until the agent named a task; stays null when it answered with a message alone. */
  taskId: string | null;
  contextId: string | null;
  state: TaskState | null;
  /** The message that is the whole answer, when the agent made no task of it. */
  reply: Message | null;
  /** What the agent said on the way, oldest first, each message once. */
  messages: Message[];
  /** Message of the last status. */
  statusMessage: Message | null;
  /** What earlier exchanges brought: a task that goes on brings it again. */
  earlier: Earlier;
  /** In the order of their first appearance. */
  artifacts: Map<string, Artifact>;
  /** States in the order seen, repeats left out. */
  states: TaskState[];
}

/** What is recorded already of a conversation. */
export interface Earlier {
  /** Ids of messages. */
  messages: ReadonlySet<string>;
  /** Artifacts as they were, as JSON, by {@link artifactKey}. */
  artifacts: ReadonlyMap<string, string>;
}

const NOTHING: Earlier = { messages: new Set(), artifacts: new Map() };

export function emptyRecord(earlier: Earlier = NOTHING): TaskRecord {
  return {
    taskId: null,
    contextId: null,
    state: null,
    reply: null,
    messages: [],
    earlier,
    statusMessage: null,
    artifacts: new Map(),
    states: [],
  };
}

const TERMINAL: ReadonlySet<TaskState> = new Set([
  TaskState.TASK_STATE_COMPLETED,
  TaskState.TASK_STATE_FAILED,
  TaskState.TASK_STATE_CANCELED,
  TaskState.TASK_STATE_REJECTED,
]);

/** True when the task will not change any more. */
export function isTerminal(state: TaskState): boolean {
  return TERMINAL.has(state);
}

/** True when it is somebody else's turn: the task ended, or it waits for the user or for a login. */
export function isSettled(record: TaskRecord): boolean {
  return isOver(record) || (record.state === TaskState.TASK_STATE_INPUT_REQUIRED && !isStale(record));
}

/** True for a question that was asked before the message came: the agent has not got round to the message yet. */
function isStale({ statusMessage, earlier }: TaskRecord): boolean {
  return statusMessage !== null && earlier.messages.has(statusMessage.messageId);
}

/** True when nothing more of this exchange can come; what waits for input may have been said before the message came. */
export function isOver({ state, reply }: TaskRecord): boolean {
  return reply !== null || (state !== null && (isTerminal(state) || state === TaskState.TASK_STATE_AUTH_REQUIRED));
}

/** Takes one event of a stream into the record. Events of other tasks are left out. */
export function applyEvent(record: TaskRecord, event: StreamResponse): void {
  const { payload } = event;
  if (payload === undefined) return;
  switch (payload.$case) {
    case 'message':
      return applyMessage(record, payload.value);
    case 'task':
      return applyTask(record, payload.value);
    case 'statusUpdate': {
      const { taskId, contextId, status } = payload.value;
      if (!isOurs(record, taskId)) return;
      record.contextId = orNull(contextId) ?? record.contextId;
      applyStatus(record, status);
      return;
    }
    case 'artifactUpdate': {
      const { taskId, artifact, append } = payload.value;
      if (isOurs(record, taskId) && artifact !== undefined) applyArtifact(record, artifact, append);
    }
  }
}

/** Takes a whole task as it is now. */
export function applyTask(record: TaskRecord, task: Task): void {
  if (!isOurs(record, task.id)) return;
  record.contextId = orNull(task.contextId) ?? record.contextId;
  for (const message of task.history) if (message.role === Role.ROLE_AGENT) note(record, message);
  for (const artifact of task.artifacts) record.artifacts.set(artifact.artifactId, artifact);
  applyStatus(record, task.status);
}

/** Takes a message that is the agent's whole answer. */
export function applyMessage(record: TaskRecord, message: Message): void {
  record.contextId = orNull(message.contextId) ?? record.contextId;
  record.reply = message;
  note(record, message);
}

function isOurs(record: TaskRecord, taskId: string): boolean {
  record.taskId ??= orNull(taskId);
  return record.taskId === taskId;
}

function applyStatus(record: TaskRecord, status: TaskStatus | undefined): void {
  if (status === undefined) return;
  record.state = status.state;
  if (record.states.at(-1) !== status.state) record.states.push(status.state);
  record.statusMessage = status.message ?? null;
  if (status.message !== undefined) note(record, status.message);
}

function applyArtifact(record: TaskRecord, artifact: Artifact, append: boolean): void {
  const known = record.artifacts.get(artifact.artifactId);
  const merged =
    append && known !== undefined ? { ...known, parts: [...known.parts, ...artifact.parts] } : { ...artifact };
  record.artifacts.set(artifact.artifactId, merged);
}

function note(record: TaskRecord, message: Message): void {
  if (record.earlier.messages.has(message.messageId)) return;
  if (record.messages.some(({ messageId }) => messageId === message.messageId)) return;
  record.messages.push(message);
}

/** Names an artifact among those of all tasks of a conversation. */
export function artifactKey({ taskId }: Pick<TaskRecord, 'taskId'>, artifactId: string): string {
  return `${taskId} ${artifactId}`;
}

/** The artifacts this exchange brought or changed. */
export function freshArtifacts(record: TaskRecord): Artifact[] {
  const { artifacts, earlier } = record;
  return [...artifacts.values()].filter(
    (artifact) => earlier.artifacts.get(artifactKey(record, artifact.artifactId)) !== JSON.stringify(artifact),
  );
}

/** What is recorded after this exchange. */
export function withRecord({ messages, artifacts }: Earlier, record: TaskRecord): Earlier {
  const brought = [...record.artifacts.values()].map(
    (artifact) => [artifactKey(record, artifact.artifactId), JSON.stringify(artifact)] as const,
  );
  return {
    messages: new Set([...messages, ...record.messages.map(({ messageId }) => messageId)]),
    artifacts: new Map([...artifacts, ...brought]),
  };
}

function orNull(text: string): string | null {
  return text === '' ? null : text;
}

/** `working`, `input_required` …: the state as people and reports say it. */
export function stateName(state: TaskState): string {
  const name = (TaskState as Record<number, string>)[state] ?? 'unrecognized';
  return name.replace(/^TASK_STATE_/, '').toLowerCase();
}
