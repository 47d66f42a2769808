import type { Part } from '@a2a-js/sdk';
import { TaskState } from '@a2a-js/sdk';
import type { A2aAgentConfig } from '../../core/a2a-config.ts';
import type { ChatMessage } from '../../core/case.ts';
import { UserError } from '../../core/errors.ts';
import type { AgentArtifact, Trajectory } from '../../core/trajectory.ts';
import type { Agent, AgentInput } from '../agent.ts';
import { maskReply } from '../mask-key.ts';
import {
  answerTo,
  type BlackBoxOptions,
  type BlackBoxTrial,
  inBlackBoxTrial,
  type Outcome,
  stopped,
} from '../report/black-box-trial.ts';
import { type AgentReport, readReport } from '../report/read-report.ts';
import { abortError, untilAborted } from '../sleep.ts';
import type { TimeCap } from '../time-cap.ts';
import { dataPart, exchange, RemoteAgentError, textPart, userMessage } from './follow-task.ts';
import { connectRemoteAgent, type RemoteAgent, type RemoteDeps } from './remote-agent.ts';
import { answerOf, recordedArtifacts, remarksOf, REPORT_EXTENSION, reportOf, textOf } from './remote-parts.ts';
import { artifactKey, type Earlier, emptyRecord, stateName, type TaskRecord, withRecord } from './task-record.ts';

export interface A2aAgentOptions extends RemoteDeps, BlackBoxOptions {
  /** Milliseconds that only grow. Default `performance.now`. */
  clock?: () => number;
}

/** One trial in progress. */
interface A2aTrial {
  trial: BlackBoxTrial;
  config: A2aAgentConfig;
  remote: RemoteAgent;
  signal: AbortSignal;
  options: A2aAgentOptions;
  /** By task and id: a task that goes on brings its artifacts again. */
  artifacts: Map<string, AgentArtifact>;
  earlier: Earlier;
}

/** Where the next message goes: into a task that waits for it, or into the same context. */
interface Place {
  taskId: string | null;
  contextId: string | null;
}

/**
 * A remote agent that speaks A2A (docs/a2a.md): one message a user turn, its task followed to the end by streaming, polling
 * or blocking; a task that waits for input gets the case's next turn. The card is read once for all trials. Rejects as
 * {@link Agent} says; what the remote agent does wrong is an ending of the trajectory.
 */
export function createA2aAgent(options: A2aAgentOptions): Agent {
  let connecting: Promise<RemoteAgent> | null = null;
  const connect = (config: A2aAgentConfig): Promise<RemoteAgent> => {
    connecting ??= connectRemoteAgent(config, options).catch((error: unknown) => {
      // Not kept: the host may be there at the next try.
      connecting = null;
      throw error;
    });
    return connecting;
  };
  return {
    async run(input) {
      const config = input.suite.agent;
      if (config.type !== 'a2a') {
        throw new UserError(`the agent of suite ${input.suite.name} is of type ${config.type}, not a2a`);
      }
      return inBlackBoxTrial(input, options, async (trial, cap) => {
        const artifacts = new Map<string, AgentArtifact>();
        let token: string | null = null;
        const work = async (): Promise<Outcome> => {
          const remote = await untilAborted(connect(config), cap.signal);
          token = remote.token;
          return converse({
            trial,
            config,
            remote,
            signal: cap.signal,
            options,
            artifacts,
            earlier: emptyRecord().earlier,
          });
        };
        const outcome = await work().catch((error: unknown) => endedBy(input, cap, error));
        const trajectory: Trajectory = { ...trial.finish(outcome), artifacts: [...artifacts.values()] };
        return maskReply(trajectory, token);
      });
    },
  };
}

async function converse(state: A2aTrial): Promise<Outcome> {
  const { trial } = state;
  let place: Place = { taskId: null, contextId: null };
  let parts = firstParts(state);
  for (;;) {
    const cap = trial.reachedCap();
    if (cap !== null) return stopped('MAX_ITERATIONS', cap);
    const record = await send(state, parts, place);
    const failure = failureOf(record);
    const reported = { answer: answerOf(record) ?? undefined, ...reportOf(record) };
    const read = readReport(reported, {}, silence(record));
    if (!read.ok) return failure ?? stopped('FAILED', read.error);
    const over = trial.take(read.report);
    if (failure !== null) return failure;
    if (over !== null) return over;
    place = { taskId: waits(record) ? record.taskId : null, contextId: record.contextId };
    if (read.report.pendingCalls.length > 0) {
      const { calls, cap: reached } = await trial.answer(read.report.pendingCalls);
      if (reached !== null) return stopped('MAX_ITERATIONS', reached);
      parts = [dataPart({ assay_tool_results: calls.map(answerTo) })];
      continue;
    }
    const outcome = endTurn(trial, record, read.report);
    if (outcome !== null) return outcome;
    parts = [textPart(trial.recorder.messages.at(-1)?.content ?? '')];
  }
}

async function send(state: A2aTrial, parts: Part[], place: Place): Promise<TaskRecord> {
  const { remote, config: target, signal, options, trial } = state;
  const clock = options.clock ?? ((): number => performance.now());
  const record = emptyRecord(state.earlier);
  await exchange({ remote, target, signal, sleep: options.sleep, clock }, userMessage(parts, place), record);
  for (const artifact of recordedArtifacts(record)) state.artifacts.set(artifactKey(record, artifact.id), artifact);
  state.earlier = withRecord(state.earlier, record);
  trial.recorder.messages.push(...remarksOf(record).map((content) => ({ role: 'assistant' as const, content })));
  return record;
}

/** What is earlier than the last message goes before it as a text of its own: A2A has no place for a conversation. */
function firstParts({ trial, remote }: A2aTrial): Part[] {
  const { messages } = trial.recorder;
  const earlier = messages.slice(0, -1);
  const parts = [
    ...(earlier.length === 0 ? [] : [textPart(transcript(earlier))]),
    textPart(messages.at(-1)?.content ?? ''),
  ];
  const extended = remote.card.capabilities?.extensions.some(({ uri }) => uri === REPORT_EXTENSION) === true;
  if (!extended) return parts;
  const documents = trial.input.evalCase.context?.documents ?? [];
  return [...parts, dataPart({ assay_case: { tools: trial.tools, documents } })];
}

function transcript(messages: readonly ChatMessage[]): string {
  return messages.map(({ role, content }) => `${role}: ${content ?? ''}`).join('\n\n');
}

/** An ending without an answer; null when the task is fine or waits for the user. */
function failureOf({ state, statusMessage }: TaskRecord): Outcome | null {
  const failure = FAILURES.find((one) => one.state === state);
  if (failure === undefined) return null;
  const said = statusMessage === null ? null : textOf(statusMessage.parts);
  return stopped(failure.status, `${failure.reason}${said === null ? '' : `: ${said}`}`);
}

const FAILURES = [
  { state: TaskState.TASK_STATE_FAILED, status: 'FAILED', reason: 'the remote task failed' },
  { state: TaskState.TASK_STATE_REJECTED, status: 'FAILED', reason: 'the agent rejected the task' },
  { state: TaskState.TASK_STATE_CANCELED, status: 'CANCELED', reason: 'the remote task was canceled' },
  {
    state: TaskState.TASK_STATE_AUTH_REQUIRED,
    status: 'FAILED',
    reason: 'the agent asks for a login, which Assay cannot give',
  },
] as const;

function waits(record: TaskRecord): boolean {
  return record.state === TaskState.TASK_STATE_INPUT_REQUIRED;
}

function endTurn(trial: BlackBoxTrial, record: TaskRecord, report: AgentReport): Outcome | null {
  if (!waits(record) || trial.turns.length > 0) return trial.endTurn(report);
  const outcome = trial.endTurn({ ...report, finalStatus: report.finalStatus ?? 'INPUT_REQUIRED' });
  return outcome === null ? null : { ...outcome, reason: 'the agent asked the user, and the case has no further turn' };
}

function silence(record: TaskRecord): string {
  const state = record.state === null ? 'message' : `task (${stateName(record.state)})`;
  return `the ${state} holds no text and no data`;
}

function endedBy(input: AgentInput, cap: TimeCap, error: unknown): Outcome {
  if (input.signal.aborted) throw abortError(input.signal);
  if (cap.expired()) return stopped('TIMEOUT', `timeout_ms (${cap.ms} ms) is used up`);
  if (error instanceof RemoteAgentError) return stopped('FAILED', error.message);
  throw error;
}
