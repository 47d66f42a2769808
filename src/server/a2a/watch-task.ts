import { setTimeout as sleep } from 'node:timers/promises';
import type { StreamResponse, Task } from '@a2a-js/sdk';
import { TaskNotFoundError } from '@a2a-js/sdk/errors';
import { isSettled } from './task-view.ts';

/** How often a running task is looked at, milliseconds. */
const LOOK_MS = 250;

/**
 * The task whenever it has changed, until it is at its end; the first as it is now.
 * @param look reads the task; null: it was deleted
 * @param isEnd default: settled, which a task that waits for the client is too
 */
export async function* watchTask(
  look: () => Promise<Task | null>,
  signal: AbortSignal,
  isEnd: (task: Task) => boolean = isSettled,
): AsyncGenerator<Task, void, undefined> {
  let last = '';
  for (;;) {
    const task = await look();
    if (task === null) throw new TaskNotFoundError('The task was deleted.');
    const now = JSON.stringify([task.status?.state, task.status?.message?.parts]);
    if (now !== last) yield task;
    last = now;
    if (isEnd(task) || signal.aborted) return;
    // An aborted wait is the end of it, not an error.
    await sleep(LOOK_MS, undefined, { signal }).catch(() => undefined);
  }
}

/** The changes as a stream says them: the whole task first, then each status; before the last one the artifacts. */
export async function* streamTask(tasks: AsyncIterable<Task>): AsyncGenerator<StreamResponse, void, undefined> {
  let first = true;
  for await (const task of tasks) {
    if (first) yield { payload: { $case: 'task', value: task } };
    else yield* updatesOf(task);
    first = false;
  }
}

/** A task as the events that tell of its change. */
export function* updatesOf(task: Task): Generator<StreamResponse, void, undefined> {
  const place = { taskId: task.id, contextId: task.contextId, metadata: task.metadata };
  for (const artifact of task.artifacts) {
    yield { payload: { $case: 'artifactUpdate', value: { ...place, artifact, append: false, lastChunk: true } } };
  }
  yield { payload: { $case: 'statusUpdate', value: { ...place, status: task.status } } };
}
