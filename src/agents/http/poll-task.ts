import type { HttpAgentConfig, HttpPolling } from '../../core/agent-config.ts';
import { isRetried, ModelError } from '../../core/errors.ts';
import { isJsonObject, type Json } from '../../core/json.ts';
import { atPointer } from '../../core/json-pointer.ts';
import type { Sleep } from '../sleep.ts';
import { startTimeCap } from '../time-cap.ts';
import type { HttpEndpoint } from './http-endpoint.ts';
import { AgentReplyError } from './http-error.ts';

/** Questions in a row that may fail before the trial does: the task goes on meanwhile. */
const MOST_FAILURES = 3;
/** Longest time giving a task up may take, milliseconds: a cancel must end within a second. */
const GIVE_UP_MS = 700;

export interface PollOptions {
  config: HttpAgentConfig;
  endpoint: HttpEndpoint;
  sleep: Sleep;
  signal: AbortSignal;
  /** Bound on one question, milliseconds. */
  callTimeoutMs: number;
}

/**
 * Asks for a task until it is done, and returns the last reply. When the signal is aborted the agent is told, if it has an
 * address for that.
 * @param first reply to the request that began the task
 * @throws AgentReplyError when the task failed, or a reply has neither id nor status
 */
export async function pollTask(first: Json, polling: HttpPolling, options: PollOptions): Promise<Json> {
  let reply = first;
  if (isOver(reply, polling)) return reply;
  const id = atPointer(first, polling.id);
  if (typeof id !== 'string' && typeof id !== 'number') {
    throw new AgentReplyError(`no task id at ${polling.id} of the reply: ${shown(first)}`);
  }
  const url = taskUrl(polling.url, String(id), options.config);
  try {
    for (let failures = 0; ;) {
      await options.sleep(polling.interval_ms, options.signal);
      try {
        reply = await ask(url, options);
        failures = 0;
      } catch (error) {
        failures += 1;
        if (options.signal.aborted || failures >= MOST_FAILURES) throw error;
        if (!(error instanceof ModelError) || !isRetried(error.kind)) throw error;
        continue;
      }
      if (isOver(reply, polling)) return reply;
    }
  } catch (error) {
    if (options.signal.aborted) await giveUp(polling, String(id), options);
    throw error;
  }
}

async function ask(url: URL, { endpoint, signal, callTimeoutMs }: PollOptions): Promise<Json> {
  const cap = startTimeCap(signal, callTimeoutMs);
  try {
    return await endpoint.send('GET', url, undefined, cap.signal);
  } catch (error) {
    if (!signal.aborted && cap.expired()) {
      throw new ModelError('timeout', `agent ${url.origin}${url.pathname}: no reply within ${callTimeoutMs} ms`);
    }
    throw error;
  } finally {
    cap.dispose();
  }
}

function isOver(reply: Json, polling: HttpPolling): boolean {
  const status = atPointer(reply, polling.status);
  if (typeof status !== 'string') {
    throw new AgentReplyError(`no status at ${polling.status} of the reply: ${shown(reply)}`);
  }
  if (polling.failed.includes(status)) throw new AgentReplyError(`the task ended as ${status}: ${shown(reply)}`);
  return polling.done.includes(status);
}

/** Best effort: what the agent makes of it changes nothing here. */
async function giveUp(polling: HttpPolling, id: string, { config, endpoint }: PollOptions): Promise<void> {
  if (polling.cancel_url === undefined) return;
  const url = taskUrl(polling.cancel_url, id, config);
  await endpoint.send('POST', url, {}, AbortSignal.timeout(GIVE_UP_MS)).catch(() => undefined);
}

/** `{{id}}` is data of the agent: it cannot leave its place in the path. */
function taskUrl(template: string, id: string, config: HttpAgentConfig): URL {
  const safe = encodeURIComponent(id).replaceAll('.', '%2E');
  return new URL(template.replaceAll(/\{\{\s*id\s*\}\}/g, safe), config.url);
}

function shown(reply: Json): string {
  const text = isJsonObject(reply) || Array.isArray(reply) ? JSON.stringify(reply) : String(reply);
  return text.slice(0, 300);
}
