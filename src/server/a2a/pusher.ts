import type { StreamResponse, Task } from '@a2a-js/sdk';
import { type PushNotificationSerializer, V1PushNotificationSerializer } from '@a2a-js/sdk/server';
import { V03PushNotificationSerializer } from '@a2a-js/sdk/compat/v0_3/server';
import { createGuardedFetch } from '../../agents/guarded-http/guarded-fetch.ts';
import { sleep } from '../../agents/sleep.ts';
import { startTimeCap } from '../../agents/time-cap.ts';
import { type A2aTaskRow, changeA2aTask } from '../../db/a2a-tasks.ts';
import type { Db } from '../../db/connect.ts';
import { isOfV1, storedConfigs, type StoredPushConfig } from './push-configs.ts';
import { isTerminal, stateOf } from './task-view.ts';
import { updatesOf, watchTask } from './watch-task.ts';

export interface PusherDeps {
  db: Db;
  find: (id: string) => Promise<A2aTaskRow | null>;
  view: (row: A2aTaskRow) => Promise<Task>;
  /** Webhooks on private and loopback addresses are told too. */
  allowPrivate: boolean;
  log: (line: string) => void;
}

export interface Pusher {
  /** Follows a task, and tells its webhooks of every change until it is settled. */
  follow(id: string): void;
  close(): Promise<void>;
}

const SEND_MS = 10_000;
const PAUSES_MS = [1_000, 5_000];
const MAX_REPLY_BYTES = 64 * 1024;

/**
 * Push notifications. Each change is told to each webhook in order, three times at most; one that cannot be told is
 * logged and left behind. What was told last is stored, so that a server that starts again tells what was missed.
 */
export function createPusher(deps: PusherDeps): Pusher {
  const stop = new AbortController();
  const followed = new Map<string, Promise<void>>();
  return {
    follow(id) {
      if (stop.signal.aborted || followed.has(id)) return;
      const work = followTask(deps, id, stop.signal)
        .catch((error: unknown) => deps.log(`WARN push notifications of task ${id}: ${messageOf(error)}`))
        .finally(() => followed.delete(id));
      followed.set(id, work);
    },
    async close() {
      stop.abort();
      await Promise.all(followed.values());
    },
  };
}

async function followTask(deps: PusherDeps, id: string, signal: AbortSignal): Promise<void> {
  const look = async (): Promise<Task | null> => {
    const row = await deps.find(id);
    return row === null ? null : deps.view(row);
  };
  for await (const task of watchTask(look, signal)) {
    const row = await deps.find(id);
    if (row === null || signal.aborted) return;
    const configs = storedConfigs(row);
    // Nobody asked: whoever asks later is followed then.
    if (configs.length === 0) return;
    const state = stateOf(task);
    if (isTerminal(state) && row.pushed === stateName(task)) return;
    await Promise.all(configs.map((config) => tell(deps, config, task, signal)));
    if (!signal.aborted) await changeA2aTask(deps.db, id, { pushed: stateName(task) });
  }
}

/** As `openA2aTasks` compares it. */
function stateName(task: Task): string {
  const names: Record<number, string> = { 3: 'completed', 4: 'failed', 5: 'canceled', 7: 'rejected' };
  return names[stateOf(task)] ?? 'open';
}

async function tell(deps: PusherDeps, stored: StoredPushConfig, task: Task, signal: AbortSignal): Promise<void> {
  const serializer = serializerOf(stored.wireVersion);
  // The older form is the whole task each time.
  const events: Iterable<StreamResponse> = isOfV1(stored.wireVersion)
    ? updatesOf(task)
    : [{ payload: { $case: 'task', value: task } }];
  for (const event of events) {
    if (!(await tellPatiently(deps, stored, serializer.serialize(event, task), signal))) return;
  }
}

function serializerOf(wireVersion: string): PushNotificationSerializer {
  return isOfV1(wireVersion) ? new V1PushNotificationSerializer() : new V03PushNotificationSerializer();
}

async function tellPatiently(
  deps: PusherDeps,
  { config }: StoredPushConfig,
  message: { body: string; contentType: string },
  signal: AbortSignal,
): Promise<boolean> {
  for (const pause of [...PAUSES_MS, null]) {
    try {
      await post(deps, config, message, signal);
      return true;
    } catch (error) {
      if (signal.aborted) return false;
      if (pause === null) deps.log(`WARN webhook ${hostOf(config.url)}: ${messageOf(error)}`);
      else await sleep(pause, signal).catch(() => undefined);
    }
  }
  return false;
}

async function post(
  { allowPrivate }: PusherDeps,
  config: StoredPushConfig['config'],
  message: { body: string; contentType: string },
  signal: AbortSignal,
): Promise<void> {
  const { url, token, authentication } = config;
  const authorization = authentication === undefined ? null : `${authentication.scheme} ${authentication.credentials}`;
  const typed = new URL(url);
  const send = createGuardedFetch({
    typed,
    allowPrivate,
    trustLoopback: false,
    authorization,
    maxBytes: MAX_REPLY_BYTES,
  });
  const cap = startTimeCap(signal, SEND_MS);
  try {
    const headers = {
      'content-type': message.contentType,
      ...(token === '' ? {} : { 'x-a2a-notification-token': token }),
    };
    const response = await send(url, { method: 'POST', headers, body: message.body, signal: cap.signal });
    await response.body?.cancel();
    if (!response.ok) throw new Error(`HTTP ${response.status}`);
  } finally {
    cap.dispose();
  }
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : 'without address';
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
