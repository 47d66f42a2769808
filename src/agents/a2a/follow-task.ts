import { randomUUID } from 'node:crypto';
import type { Message, Part } from '@a2a-js/sdk';
import { Role } from '@a2a-js/sdk';
import type { A2aTarget } from '../../core/a2a-config.ts';
import { ModelError, UserError } from '../../core/errors.ts';
import type { Sleep } from '../sleep.ts';
import { startTimeCap } from '../time-cap.ts';
import type { RemoteAgent } from './remote-agent.ts';
import { ForgottenTaskError, remoteFailure } from './remote-error.ts';
import {
  applyEvent,
  applyMessage,
  applyTask,
  emptyRecord,
  isOver,
  isSettled,
  isTerminal,
  type TaskRecord,
} from './task-record.ts';

/** What is needed to talk to a remote agent. */
export interface Exchange {
  remote: RemoteAgent;
  target: A2aTarget;
  signal: AbortSignal;
  sleep: Sleep;
  /** Milliseconds that only grow. */
  clock: () => number;
}

/** An agent that answered with an error, or with more than is read. */
export class RemoteAgentError extends Error {}

/** Milliseconds a cancellation of the remote task may take. */
const CANCEL_MS = 900;

/** A message of the user. */
export function userMessage(parts: Part[], place: { taskId?: string | null; contextId?: string | null } = {}): Message {
  return {
    messageId: randomUUID(),
    contextId: place.contextId ?? '',
    taskId: place.taskId ?? '',
    role: Role.ROLE_USER,
    parts,
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  };
}

export function textPart(value: string): Part {
  return { content: { $case: 'text', value }, metadata: undefined, filename: '', mediaType: 'text/plain' };
}

export function dataPart(value: unknown, mediaType = 'application/json'): Part {
  return { content: { $case: 'data', value }, metadata: undefined, filename: '', mediaType };
}

/**
 * Sends a message and follows the task it leads to until it is settled; `record` grows meanwhile. When the connection is
 * lost after the agent has named the task, the task is looked at again, for as long as the agent may be away. An aborted
 * signal cancels the remote task.
 * @throws RemoteAgentError for what the agent did wrong; ModelError and UserError for infrastructure (ForgottenTaskError:
 * the agent does not know the task any more); `AbortError`
 */
export async function exchange(
  options: Exchange,
  message: Message,
  record: TaskRecord = emptyRecord(),
): Promise<TaskRecord> {
  try {
    await send(options, message, record).catch((error: unknown) => {
      if (record.taskId === null || isSettled(record) || !isLoss(options, error)) throw error;
    });
    if (!isSettled(record) && record.taskId === null) {
      throw new RemoteAgentError('the agent ended the exchange with neither a message nor a task');
    }
    await untilSettled(options, record);
    return record;
  } catch (error) {
    if (options.signal.aborted) await cancelRemote(options.remote, record);
    throw error;
  }
}

async function send(options: Exchange, message: Message, record: TaskRecord): Promise<void> {
  const { remote, signal } = options;
  const mode = modeOf(options);
  const request = {
    tenant: '',
    message,
    configuration: {
      acceptedOutputModes: [],
      taskPushNotificationConfig: undefined,
      returnImmediately: mode === 'poll',
    },
    metadata: undefined,
  };
  try {
    if (mode === 'stream') {
      for await (const event of remote.client.sendMessageStream(request, { signal })) {
        applyEvent(record, event);
        // A stream that is kept open after its end holds nothing more.
        if (isOver(record)) return;
      }
      return;
    }
    const result = await remote.client.sendMessage(request, { signal });
    if ('messageId' in result) applyMessage(record, result);
    else applyTask(record, result);
  } catch (error) {
    const failure = sorted(options, error);
    // Nobody asked for a task: such an answer is the agent's own failure.
    const asked = message.taskId !== '' || record.taskId !== null;
    throw failure instanceof ForgottenTaskError && !asked ? new RemoteAgentError(failure.message) : failure;
  }
}

function modeOf({ remote, target }: Exchange): 'stream' | 'poll' | 'blocking' {
  const streams = remote.card.capabilities?.streaming === true;
  if (target.mode === 'auto') return streams ? 'stream' : 'poll';
  if (target.mode === 'stream' && !streams) {
    throw new UserError(`the A2A agent ${remote.where} offers no streaming`, {
      hint: 'leave `mode: stream` out, or write `mode: poll`',
    });
  }
  return target.mode;
}

async function untilSettled(options: Exchange, record: TaskRecord): Promise<void> {
  let lostAt: number | null = null;
  while (!isSettled(record)) {
    await options.sleep(options.target.poll_interval_ms, options.signal);
    try {
      const id = record.taskId ?? '';
      const task = await options.remote.client.getTask({ tenant: '', id }, { signal: options.signal });
      lostAt = null;
      applyTask(record, task);
    } catch (error) {
      const failure = sorted(options, error);
      lostAt ??= options.clock();
      if (!isLoss(options, failure) || options.clock() - lostAt > options.target.patience_ms) throw failure;
    }
  }
}

function sorted({ remote, signal }: Exchange, error: unknown): Error {
  if (signal.aborted || error instanceof RemoteAgentError) return error as Error;
  const failure = remoteFailure(error, remote.where, remote.token);
  return 'failed' in failure ? new RemoteAgentError(failure.failed) : failure.thrown;
}

/** True for failures after which the agent may still be working on the task. */
function isLoss({ signal }: Exchange, error: unknown): boolean {
  if (signal.aborted || !(error instanceof ModelError) || error instanceof ForgottenTaskError) return false;
  return ['connection', 'server_error', 'rate_limit', 'invalid_reply', 'timeout'].includes(error.kind);
}

/** Asks the agent to stop. Whether it does is its own affair: who asks is leaving. */
async function cancelRemote(remote: RemoteAgent, record: TaskRecord): Promise<void> {
  if (record.taskId === null || (record.state !== null && isTerminal(record.state))) return;
  const cap = startTimeCap(new AbortController().signal, CANCEL_MS);
  try {
    await remote.client.cancelTask({ tenant: '', id: record.taskId, metadata: undefined }, { signal: cap.signal });
  } catch {
    // An agent that cannot cancel, has ended meanwhile or is gone: nothing is left to be done about it.
  } finally {
    cap.dispose();
  }
}
