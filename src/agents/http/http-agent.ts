import { randomUUID } from 'node:crypto';
import type { HttpAgentConfig } from '../../core/agent-config.ts';
import type { ChatMessage } from '../../core/case.ts';
import { ModelError, UserError } from '../../core/errors.ts';
import type { Json, JsonObject } from '../../core/json.ts';
import { atPointer } from '../../core/json-pointer.ts';
import { fillTemplate } from '../../core/json-template.ts';
import type { Agent, AgentInput } from '../agent.ts';
import {
  answerTo,
  type BlackBoxOptions,
  type BlackBoxTrial,
  inBlackBoxTrial,
  type Outcome,
  stopped,
} from '../report/black-box-trial.ts';
import { type AgentReport, readReport, type ReportParts } from '../report/read-report.ts';
import { abortError, type Sleep, untilAborted } from '../sleep.ts';
import type { TimeCap } from '../time-cap.ts';
import { createHttpEndpoint, type HttpEndpoint } from './http-endpoint.ts';
import { AgentReplyError } from './http-error.ts';
import { pollTask } from './poll-task.ts';

export interface HttpAgentOptions extends BlackBoxOptions {
  /** Where the secret of `auth_env` is. */
  env: Readonly<Record<string, string | undefined>>;
  /** Names a conversation to the agent. Default: a random UUID a trial. */
  newConversationId?: () => string;
}

/** One trial in progress. */
interface HttpTrial {
  trial: BlackBoxTrial;
  config: HttpAgentConfig;
  endpoint: HttpEndpoint;
  conversationId: string;
  signal: AbortSignal;
  sleep: Sleep;
  /** Messages the agent has been sent. */
  sent: number;
  turnIndex: number;
  toolResults: Json;
}

/**
 * A service that takes JSON and answers with JSON: one request a user turn, one more for each turn of calls it wants
 * answered by the mock world. Replies that are not what they should be are FAILED trajectories; see docs/agents.md.
 * Rejects as {@link Agent} says; {@link UserError} for a secret that is not set or an address that is blocked.
 */
export function createHttpAgent(options: HttpAgentOptions): Agent {
  return {
    async run(input) {
      const config = input.suite.agent;
      if (config.type !== 'http') {
        throw new UserError(`the agent of suite ${input.suite.name} is of type ${config.type}, not http`);
      }
      const endpoint = createHttpEndpoint(config, options.env);
      return inBlackBoxTrial(input, options, async (trial, cap) => {
        const state: HttpTrial = {
          trial,
          config,
          endpoint,
          conversationId: (options.newConversationId ?? randomUUID)(),
          signal: cap.signal,
          sleep: options.sleep,
          sent: 0,
          turnIndex: 0,
          toolResults: [],
        };
        return trial.finish(await converse(state).catch((error: unknown) => endedBy(input, cap, error)));
      });
    },
  };
}

async function converse(state: HttpTrial): Promise<Outcome> {
  const { trial } = state;
  for (;;) {
    const cap = trial.reachedCap();
    if (cap !== null) return stopped('MAX_ITERATIONS', cap);
    const read = readReport(partsOf(await exchange(state), state.config), state.config.statuses ?? {}, where(state));
    if (!read.ok) return stopped('FAILED', read.error);
    const over = trial.take(read.report);
    if (over !== null) return over;
    const outcome = await (read.report.pendingCalls.length > 0
      ? answerCalls(state, read.report)
      : endTurn(state, read.report));
    if (outcome !== null) return outcome;
  }
}

async function answerCalls(state: HttpTrial, report: AgentReport): Promise<Outcome | null> {
  const { calls, cap } = await state.trial.answer(report.pendingCalls);
  state.toolResults = calls.map(answerTo);
  return cap === null ? null : stopped('MAX_ITERATIONS', cap);
}

function endTurn(state: HttpTrial, report: AgentReport): Outcome | null {
  state.toolResults = [];
  state.turnIndex += 1;
  return state.trial.endTurn(report);
}

/** One request, and for an agent that works on it in the background its task to the end. */
async function exchange(state: HttpTrial): Promise<Json> {
  const { config, endpoint, signal, sleep, trial } = state;
  const body = requestBody(state);
  state.sent = trial.recorder.messages.length;
  const reply = await untilAborted(endpoint.send('POST', new URL(config.url), body, signal), signal);
  if (config.poll === undefined) return reply;
  const callTimeoutMs = trial.input.suite.limits.call_timeout_ms;
  return pollTask(reply, config.poll, { config, endpoint, sleep, signal, callTimeoutMs });
}

const EVERYTHING: JsonObject = {
  input: '{{input}}',
  messages: '{{messages}}',
  tools: '{{tools}}',
  tool_results: '{{tool_results}}',
  documents: '{{documents}}',
  metadata: '{{metadata}}',
  conversation_id: '{{conversation_id}}',
  trial_index: '{{trial_index}}',
};

function requestBody(state: HttpTrial): Json {
  const { trial, config } = state;
  const { evalCase, trialIndex } = trial.input;
  const { messages } = trial.recorder;
  const plain = (value: unknown): Json => structuredClone(value) as Json;
  return fillTemplate(config.request ?? EVERYTHING, {
    input: lastUserText(messages),
    messages: plain(messages),
    new_messages: plain(messages.slice(state.sent)),
    tools: plain(trial.tools),
    tool_results: state.toolResults,
    documents: plain(evalCase.context?.documents ?? []),
    metadata: evalCase.metadata ?? {},
    conversation_id: state.conversationId,
    trial_index: trialIndex,
    turn_index: state.turnIndex,
  });
}

function lastUserText(messages: readonly ChatMessage[]): string {
  return messages.findLast((message) => message.role === 'user')?.content ?? '';
}

function partsOf(reply: Json, config: HttpAgentConfig): ReportParts {
  const at = (part: keyof ReportParts): Json | undefined => atPointer(reply, config.response?.[part] ?? `/${part}`);
  return {
    answer: at('answer'),
    final_status: at('final_status'),
    tool_calls: at('tool_calls'),
    pending_calls: at('pending_calls'),
    usage: at('usage'),
    retrieved_doc_ids: at('retrieved_doc_ids'),
    sub_agents: at('sub_agents'),
    plan: at('plan'),
    model: at('model'),
  };
}

function where({ config }: HttpTrial): string {
  return `nothing at ${config.response?.answer ?? '/answer'} of the reply (agent.response.answer)`;
}

/** The time cap and replies that are wrong end the trial with what there is; a cancel and infrastructure go on up. */
function endedBy(input: AgentInput, cap: TimeCap, error: unknown): Outcome {
  if (input.signal.aborted) throw abortError(input.signal);
  if (cap.expired()) return stopped('TIMEOUT', `timeout_ms (${cap.ms} ms) is used up`);
  if (error instanceof AgentReplyError) return stopped('FAILED', error.message);
  if (error instanceof ModelError && (error.kind === 'context_length' || error.kind === 'content_filter')) {
    return stopped('FAILED', `${error.kind}: ${error.message}`);
  }
  throw error;
}
