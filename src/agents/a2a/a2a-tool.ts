import type { Part } from '@a2a-js/sdk';
import { TaskState } from '@a2a-js/sdk';
import type { A2aToolConfig } from '../../core/a2a-config.ts';
import type { Json, JsonObject } from '../../core/json.ts';
import { maskReply } from '../mask-key.ts';
import { fixturesOf } from '../mock/mock-fixtures.ts';
import type { ToolOutcome } from '../mock/mock-world.ts';
import { toolsOf } from '../openai/conversation.ts';
import { abortError, type Sleep, untilAborted } from '../sleep.ts';
import { startTimeCap } from '../time-cap.ts';
import type { ToolHandler } from '../tool-router.ts';
import type { OpenToolSource } from '../trial-world.ts';
import { dataPart, exchange, RemoteAgentError, textPart, userMessage } from './follow-task.ts';
import { ForgottenTaskError } from './remote-error.ts';
import { connectRemoteAgent, type RemoteAgent, type RemoteDeps } from './remote-agent.ts';
import { answerOf, recordedArtifacts, reportOf, textOf } from './remote-parts.ts';
import { emptyRecord, stateName, type TaskRecord, withRecord } from './task-record.ts';

export interface A2aToolOptions extends RemoteDeps {
  sleep: Sleep;
  /** Milliseconds that only grow. Default `performance.now`. */
  clock?: () => number;
}

/**
 * The tools of a trial that are remote A2A agents. A call sends `message` (any other arguments as a data part), follows
 * the task, and answers with its state, text, data and artifacts. A task that waits for input is an answer too: another
 * call with its `task_id` goes on with it. A task that fails, is rejected or takes longer than `timeout_ms` is a failed
 * tool; a host that is away rejects, and the trial is tried again. A tool that the case or suite has fixtures for is
 * answered by them.
 */
export function openA2aTools(options: A2aToolOptions): OpenToolSource {
  const connections = new Map<string, Promise<RemoteAgent>>();
  const connect = (config: A2aToolConfig): Promise<RemoteAgent> => {
    const key = JSON.stringify(config);
    const known = connections.get(key) ?? connectRemoteAgent(config, options);
    connections.set(key, known);
    // Not kept: the host may be there at the next try.
    known.catch(() => connections.delete(key));
    return known;
  };
  return ({ evalCase, suite }) => {
    const mocked = new Set(fixturesOf(evalCase, suite).fixtures.map((fixture) => fixture.tool));
    const remote = toolsOf(evalCase, suite).flatMap((tool) =>
      tool.a2a === undefined || mocked.has(tool.name) ? [] : [[tool.name, tool.a2a] as const],
    );
    // Tasks of this trial as they were left: one that goes on does so in its own context.
    const tasks = new Map<string, TaskRecord>();
    const handlers = new Map(
      remote.map(([name, config]) => [name, handlerOf(config, { options, connect, tasks })] as const),
    );
    return Promise.resolve({ tools: [], handlers, close: () => Promise.resolve() });
  };
}

interface HandlerParts {
  options: A2aToolOptions;
  connect: (config: A2aToolConfig) => Promise<RemoteAgent>;
  tasks: Map<string, TaskRecord>;
}

function handlerOf(config: A2aToolConfig, { options, connect, tasks }: HandlerParts): ToolHandler {
  return async (args, signal) => {
    const cap = startTimeCap(signal, config.timeout_ms);
    const taskId = typeof args['task_id'] === 'string' && args['task_id'] !== '' ? args['task_id'] : null;
    const before = taskId === null ? undefined : tasks.get(taskId);
    const record = emptyRecord(before === undefined ? undefined : withRecord(before.earlier, before));
    let token: string | null = null;
    // A task id that no earlier call brought is the model's own idea.
    const invented = (error: unknown): error is ForgottenTaskError =>
      error instanceof ForgottenTaskError && before === undefined && record.taskId === null;
    try {
      const remote = await untilAborted(connect(config), cap.signal);
      token = remote.token;
      const clock = options.clock ?? ((): number => performance.now());
      const place = { taskId, contextId: before?.contextId ?? null };
      const message = userMessage(partsOf(args), place);
      await exchange({ remote, target: config, signal: cap.signal, sleep: options.sleep, clock }, message, record);
      if (record.taskId !== null) tasks.set(record.taskId, record);
      return maskReply(outcomeOf(record), token);
    } catch (error) {
      if (signal.aborted) throw abortError(signal);
      const failure = cap.expired()
        ? { kind: 'timeout', message: `the remote agent did not end its task within ${config.timeout_ms} ms` }
        : error instanceof RemoteAgentError || invented(error)
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
