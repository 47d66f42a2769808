import { randomUUID } from 'node:crypto';
import { type StreamResponse, type Task, TaskState } from '@a2a-js/sdk';
import { type PushNotificationSerializer, V1PushNotificationSerializer } from '@a2a-js/sdk/server';
import { V03PushNotificationSerializer } from '@a2a-js/sdk/compat/v0_3/server';
import { createGuardedFetch } from '../../agents/guarded-http/guarded-fetch.ts';
import { sleep } from '../../agents/sleep.ts';
import { startTimeCap } from '../../agents/time-cap.ts';
import { claimA2aPush, dropPushSecrets, releaseA2aPush, storePushed } from '../../db/a2a-pushes.ts';
import type { A2aTaskRow } from '../../db/a2a-tasks.ts';
import type { Db } from '../../db/connect.ts';
import { whileTransient } from '../../db/transient.ts';
import { isOfV1, storedConfigs, type StoredPushConfig } from './push-configs.ts';
import { isSettled, isTerminal, stateOf } from './task-view.ts';
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
/** What was sent when the server stops may still be answered, milliseconds: unanswered, the next server would tell it again. */
const LAST_ANSWER_MS = 1_000;
const MAX_REPLY_BYTES = 64 * 1024;

/** A server that tells is taken to be alive for so long after it began a try, milliseconds: longer than a try and its pause. */
const CLAIM_MS = 30_000;
/** How often a server looks whether another one told, milliseconds. */
const LOOK_MS = 1_000;

/**
 * Push notifications. Each change is told to each webhook in order, three times at most; one that cannot be told is
 * logged and left behind. Of the servers of a database one at a time tells the webhooks of a task: it claims them. What was
 * told last is stored, so that a server that starts again, or takes over from one that died, tells what was missed: a
 * task at rest at least once, twice only where the one before died between telling and storing it.
 */
export function createPusher(deps: PusherDeps): Pusher {
  const stop = new AbortController();
  const pusher = randomUUID();
  const followed = new Map<string, Promise<void>>();
  // Followed to a rest of the task that may have been left meanwhile.
  const again = new Set<string>();
  const follow = (id: string): void => {
    if (stop.signal.aborted) return;
    if (followed.has(id)) {
      again.add(id);
      return;
    }
    const work = followTask(deps, { id, pusher }, stop.signal)
      .catch((error: unknown) => deps.log(`WARN push notifications of task ${id}: ${messageOf(error)}`))
      .finally(() => {
        followed.delete(id);
        if (again.delete(id)) follow(id);
      });
    followed.set(id, work);
  };
  return {
    follow,
    async close() {
      stop.abort();
      await Promise.all(followed.values());
    },
  };
}

/** A task's webhooks, and the process that would tell them. */
interface Claim {
  id: string;
  pusher: string;
}

async function followTask(deps: PusherDeps, claim: Claim, signal: AbortSignal): Promise<void> {
  const look = async (): Promise<Task | null> => {
    const row = await deps.find(claim.id);
    return row === null ? null : deps.view(row);
  };
  try {
    for await (const task of watchTask(look, signal)) {
      if (!(await tellAll(deps, claim, task, signal))) return;
    }
  } finally {
    await releaseA2aPush(deps.db, claim.id, claim.pusher);
  }
}

/** @returns false when there is nothing to tell any more */
async function tellAll(deps: PusherDeps, claim: Claim, task: Task, signal: AbortSignal): Promise<boolean> {
  const { db } = deps;
  const name = stateName(task);
  for (;;) {
    const row = await deps.find(claim.id);
    // Nobody asked: whoever asks later is followed then.
    if (row === null || signal.aborted || row.push_configs.length === 0) return false;
    const held = await holds(deps, claim);
    // Read after the claim: who has it is the only one to change this.
    const now = await deps.find(claim.id);
    if (now === null) return false;
    if (isSettled(task) && now.pushed === name) break;
    if (held) {
      const told = await Promise.all(storedConfigs(now).map((config) => tell(deps, claim, { config, task }, signal)));
      // Told before the server was stopped is told: the next one must not tell it again.
      if (told.includes('lost') || (signal.aborted && told.includes('failed'))) return false;
      await storePushed(db, claim.id, claim.pusher, name);
      break;
    }
    // Another server tells this; should it die, a task at rest still has to be told.
    if (!isSettled(task) || stateName(await deps.view(now)) !== name) return true;
    await sleep(LOOK_MS, signal).catch(() => undefined);
  }
  if (isTerminal(stateOf(task))) await dropPushSecrets(db, claim.id);
  return true;
}

function holds({ db }: PusherDeps, { id, pusher }: Claim): Promise<boolean> {
  return whileTransient(() => claimA2aPush(db, id, pusher, CLAIM_MS));
}

/** What was told: ends as `openA2aTasks` compares them; a question by its place, since one may be asked twice. */
function stateName(task: Task): string {
  const names: Record<number, string> = { 3: 'completed', 4: 'failed', 5: 'canceled', 7: 'rejected' };
  const waits = stateOf(task) === TaskState.TASK_STATE_INPUT_REQUIRED;
  return names[stateOf(task)] ?? (waits ? `waiting ${task.history.length}` : 'open');
}

/** `lost`: another server has taken over. */
type Told = 'told' | 'failed' | 'lost';

async function tell(
  deps: PusherDeps,
  claim: Claim,
  { config, task }: { config: StoredPushConfig; task: Task },
  signal: AbortSignal,
): Promise<Told> {
  const serializer = serializerOf(config.wireVersion);
  // The older form is the whole task each time.
  const events: Iterable<StreamResponse> = isOfV1(config.wireVersion)
    ? updatesOf(task)
    : [{ payload: { $case: 'task', value: task } }];
  for (const event of events) {
    const told = await tellPatiently(deps, claim, { config, message: serializer.serialize(event, task) }, signal);
    if (told !== 'told') return told;
  }
  return 'told';
}

function serializerOf(wireVersion: string): PushNotificationSerializer {
  return isOfV1(wireVersion) ? new V1PushNotificationSerializer() : new V03PushNotificationSerializer();
}

interface Message {
  body: string;
  contentType: string;
}

async function tellPatiently(
  deps: PusherDeps,
  claim: Claim,
  { config: { config }, message }: { config: StoredPushConfig; message: Message },
  signal: AbortSignal,
): Promise<Told> {
  for (const pause of [...PAUSES_MS, null]) {
    if (!(await holds(deps, claim))) return 'lost';
    try {
      await post(deps, config, message, signal);
      return 'told';
    } catch (error) {
      if (signal.aborted) return 'failed';
      if (pause === null) deps.log(`WARN webhook ${hostOf(config.url)}: ${withoutSecrets(messageOf(error), config)}`);
      else await sleep(pause, signal).catch(() => undefined);
    }
  }
  return 'failed';
}

/** An error may quote what it was given: a path of a webhook is often its key. */
function withoutSecrets(text: string, { url, token, authentication }: StoredPushConfig['config']): string {
  const { pathname, search } = new URL(url);
  const secrets = [`${pathname}${search}`, pathname, token, authentication?.credentials ?? ''];
  return secrets.filter((one) => one.length > 1).reduce((said, secret) => said.replaceAll(secret, '[…]'), text);
}

async function post(
  { allowPrivate }: PusherDeps,
  config: StoredPushConfig['config'],
  message: Message,
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
  signal.throwIfAborted();
  const stopping = new AbortController();
  const onStop = (): void => void setTimeout(() => stopping.abort(signal.reason), LAST_ANSWER_MS).unref();
  signal.addEventListener('abort', onStop);
  const cap = startTimeCap(stopping.signal, SEND_MS);
  try {
    const headers = {
      'content-type': message.contentType,
      ...(token === '' ? {} : { 'x-a2a-notification-token': token }),
    };
    const response = await send(url, { method: 'POST', headers, body: message.body, signal: cap.signal });
    await response.body?.cancel();
    if (!response.ok) throw new Error(`HTTP ${response.status}`);
  } finally {
    signal.removeEventListener('abort', onStop);
    cap.dispose();
  }
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : 'without address';
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
