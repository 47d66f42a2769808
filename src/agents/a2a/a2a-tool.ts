import type { Part } from '@a2a-js/sdk';
import { TaskState } from '@a2a-js/sdk';
import type { A2aToolConfig } from '../../core/a2a-config.ts';
import type { ToolDefinition } from '../../core/case.ts';
import type { Json, JsonObject } from '../../core/json.ts';
import { maskReply } from '../mask-key.ts';
import type { ToolOutcome } from '../mock/mock-world.ts';
import { abortError, type Sleep, untilAborted } from '../sleep.ts';
import { startTimeCap } from '../time-cap.ts';
import type { ToolHandler } from '../tool-router.ts';
import { dataPart, exchange, RemoteAgentError, textPart, userMessage } from './follow-task.ts';
import { connectRemoteAgent, type RemoteAgent, type RemoteDeps } from './remote-agent.ts';
import { answerOf, recordedArtifacts, reportOf, textOf } from './remote-parts.ts';
import { emptyRecord, stateName, type TaskRecord } from './task-record.ts';

export interface A2aToolOptions extends RemoteDeps {
  sleep: Sleep;
  /** Milliseconds that only grow. Default `performance.now`. */
  clock?: () => number;
}

/** Parameters of a tool that names none of its own. */
const PARAMETERS: JsonObject = {
  type: 'object',
  properties: {
    message: { type: 'string', description: 'what the remote agent is asked to do, in plain words' },
    task_id: { type: 'string', description: 'task of an earlier call that waits for input; leave out for a new task' },
  },
  required: ['message'],
};

/** The definition a model is shown: what the suite leaves out is filled in. */
export function shownA2aTool(tool: ToolDefinition): ToolDefinition {
  if (tool.a2a === undefined) return tool;
  const { a2a: _remote, ...shown } = tool;
  return { description: 'A remote agent. It works on a message and answers.', parameters: PARAMETERS, ...shown };
}

/**
 * Handlers for the tools that are remote A2A agents. A call sends `message` (any other arguments as a data part), follows
 * the task, and answers with its state, text, data and artifacts. A task that waits for input is an answer too: another
 * call with its `task_id` goes on with it. A task that fails, is rejected or takes longer than `timeout_ms` is a failed
 * tool; a host that is away rejects, and the trial is tried again.
 */
export function createA2aTools(
  options: A2aToolOptions,
): (tools: readonly ToolDefinition[]) => Map<string, ToolHandler> {
  const connections = new Map<string, Promise<RemoteAgent>>();
  const connect = (config: A2aToolConfig): Promise<RemoteAgent> => {
    const key = JSON.stringify(config);
    const known = connections.get(key) ?? connectRemoteAgent(config, options);
    connections.set(key, known);
    known.catch(() => connections.delete(key));
    return known;
  };
  return (tools) => {
    const remote = tools.flatMap((tool) => (tool.a2a === undefined ? [] : [[tool.name, tool.a2a] as const]));
    // Contexts of the tasks of this trial: a task goes on in its own.
    const contexts = new Map<string, string>();
    return new Map(remote.map(([name, config]) => [name, handlerOf(config, { options, connect, contexts })]));
  };
}

interface HandlerParts {
  options: A2aToolOptions;
  connect: (config: A2aToolConfig) => Promise<RemoteAgent>;
  contexts: Map<string, string>;
}

function handlerOf(config: A2aToolConfig, { options, connect, contexts }: HandlerParts): ToolHandler {
  return async (args, signal) => {
    const cap = startTimeCap(signal, config.timeout_ms);
    const record = emptyRecord();
    let token: string | null = null;
    try {
      const remote = await untilAborted(connect(config), cap.signal);
      token = remote.token;
      const clock = options.clock ?? ((): number => performance.now());
      const taskId = typeof args['task_id'] === 'string' && args['task_id'] !== '' ? args['task_id'] : null;
      const place = { taskId, contextId: taskId === null ? null : (contexts.get(taskId) ?? null) };
      const message = userMessage(partsOf(args), place);
      await exchange({ remote, target: config, signal: cap.signal, sleep: options.sleep, clock }, message, record);
      if (record.taskId !== null && record.contextId !== null) contexts.set(record.taskId, record.contextId);
      return maskReply(outcomeOf(record), token);
    } catch (error) {
      if (signal.aborted) throw abortError(signal);
      const failure = cap.expired()
        ? { kind: 'timeout', message: `the remote agent did not end its task within ${config.timeout_ms} ms` }
        : error instanceof RemoteAgentError
          ? { kind: 'remote_error', message: error.message }
          : null;
      if (failure === null) throw error;
      return maskReply({ result: resultOf(record), error: failure, unmatched: false }, token);
    } finally {
      cap.dispose();
    }
  };
}

function partsOf(args: JsonObject): Part[] {
  const { message, task_id: _task, ...rest } = args;
  const parts = typeof message === 'string' ? [textPart(message)] : [];
  return Object.keys(rest).length === 0 && parts.length > 0 ? parts : [...parts, dataPart(rest)];
}

const FAILED: ReadonlySet<TaskState | null> = new Set([
  TaskState.TASK_STATE_FAILED,
  TaskState.TASK_STATE_REJECTED,
  TaskState.TASK_STATE_CANCELED,
  TaskState.TASK_STATE_AUTH_REQUIRED,
]);

function outcomeOf(record: TaskRecord): ToolOutcome {
  const result = resultOf(record);
  if (!FAILED.has(record.state)) return { result, error: null, unmatched: false };
  const state = record.state === null ? 'unknown' : stateName(record.state);
  const said = record.statusMessage === null ? null : textOf(record.statusMessage.parts);
  const message = `the remote task is ${state}${said === null ? '' : `: ${said}`}`;
  return { result, error: { kind: 'remote_failed', message }, unmatched: false };
}

/** The task as the agent under test sees it and as it is recorded. */
function resultOf(record: TaskRecord): Json {
  const artifacts = recordedArtifacts(record);
  const report = reportOf(record);
  return {
    ...(record.taskId === null ? {} : { task_id: record.taskId }),
    state: record.state === null ? 'message' : stateName(record.state),
    states: record.states.map(stateName),
    text: answerOf(record),
    ...(artifacts.length === 0 ? {} : { artifacts: artifacts as unknown as Json }),
    ...(Object.keys(report).length === 0 ? {} : { report }),
  };
}
