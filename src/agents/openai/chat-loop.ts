import type { ToolDefinition } from '../../core/case.ts';
import { ModelError } from '../../core/errors.ts';
import type { ModelReply, ModelRequest, TrialModel } from '../../core/model.ts';
import type { OpenAiAgentConfig, Suite } from '../../core/suite.ts';
import { addUsage, NO_USAGE, type Usage } from '../../core/trajectory.ts';
import { userMessage } from './conversation.ts';
import { readToolCall } from './read-tool-call.ts';
import type { Ending, Recorder } from '../recorder.ts';
import { untilAborted } from '../sleep.ts';
import { assistantMessage, createCallIds, toolMessages } from './tool-messages.ts';
import type { ToolRunner } from '../tool-runner.ts';

/** What every model call of a conversation is made with. */
export type ChatSettings = Pick<
  OpenAiAgentConfig,
  'model' | 'temperature' | 'seed' | 'max_output_tokens' | 'stream' | 'extra_body'
>;

/** Tokens a trial has used, the agent's and its sub-agents'. */
export interface TrialTokens {
  readonly usage: Usage;
  add(usage: Usage): void;
}

export function createTrialTokens(): TrialTokens {
  let usage = NO_USAGE;
  return {
    get usage() {
      return usage;
    },
    add(more) {
      usage = addUsage(usage, more);
    },
  };
}

/** One conversation with a model that may call tools: the agent's, or a sub-agent's. */
export interface ChatLoop {
  settings: ChatSettings;
  tools: ToolDefinition[];
  recorder: Recorder;
  runner: ToolRunner;
  model: TrialModel;
  signal: AbortSignal;
  /** Place in the journal: '' for the agent, the id of the dispatch for a sub-agent. */
  path: string;
  caps: Pick<Suite['limits'], 'max_iterations' | 'max_tokens' | 'max_tool_calls' | 'call_timeout_ms'>;
  tokens: TrialTokens;
  /** User turns still to be sent. */
  turns: string[];
  nextId: (id: string | null) => string;
}

/** An ending but for the world's state, which is read at the end. */
export type Outcome = Omit<Ending, 'endState'>;

export function createChatLoop(parts: Omit<ChatLoop, 'nextId'>): ChatLoop {
  return { ...parts, nextId: createCallIds() };
}

/**
 * Asks the model and runs what it calls until it answers, a cap is reached or it asks the user. Rejects with what the
 * model client rejects with, and with `AbortError`.
 */
export async function converse(loop: ChatLoop): Promise<Outcome> {
  for (;;) {
    const cap = reachedCap(loop);
    if (cap !== null) return stopped('MAX_ITERATIONS', cap);
    const reply = await ask(loop);
    const outcome = reply.tool_calls.length > 0 ? await answerCalls(loop, reply) : answerText(loop, reply);
    if (outcome !== null) return outcome;
  }
}

/** The cap that forbids another model turn. Calls have theirs in {@link answerCalls}: after the last one may come an answer. */
function reachedCap({ caps, recorder, tokens }: ChatLoop): string | null {
  const { max_iterations, max_tokens } = caps;
  if (recorder.replyCount >= max_iterations) return `max_iterations (${max_iterations}) is reached`;
  const { total } = tokens.usage;
  return total !== null && total >= max_tokens ? `max_tokens (${max_tokens}) is reached: ${total} tokens used` : null;
}

async function ask(loop: ChatLoop): Promise<ModelReply> {
  const { model, recorder, signal } = loop;
  const place = { role: 'agent', path: loop.path, dimension: '', vote: 0, sequence: recorder.replyCount } as const;
  const timeoutMs = loop.caps.call_timeout_ms;
  const reply = await untilAborted(model.complete(requestOf(loop), { signal, timeoutMs, place }), signal);
  recorder.reply(reply);
  loop.tokens.add(reply.usage);
  return reply;
}

function requestOf({ settings, tools, recorder }: ChatLoop): ModelRequest {
  return {
    model: settings.model,
    // A copy: the request is journaled and must not grow with the conversation.
    messages: [...recorder.messages],
    ...(tools.length === 0 ? {} : { tools }),
    ...(settings.temperature === undefined ? {} : { temperature: settings.temperature }),
    ...(settings.seed === undefined ? {} : { seed: settings.seed }),
    ...(settings.max_output_tokens === undefined ? {} : { max_output_tokens: settings.max_output_tokens }),
    ...(settings.stream === undefined ? {} : { stream: settings.stream }),
    ...(settings.extra_body === undefined ? {} : { extra_body: settings.extra_body }),
  };
}

/** Runs the calls of one turn and gives the answers to the model. Null: go on. */
async function answerCalls(loop: ChatLoop, reply: ModelReply): Promise<Outcome | null> {
  const { recorder, runner } = loop;
  const turn = recorder.replyCount - 1;
  const reads = reply.tool_calls.map(readToolCall);
  const ids = reads.map((read) => loop.nextId(read.id));
  recorder.messages.push(assistantMessage(reply, reads, ids, loop.tools));
  const { max_tool_calls } = loop.caps;
  const left = Math.max(0, max_tool_calls - recorder.callCount);
  const cap = `max_tool_calls (${max_tool_calls})`;
  // All are begun before any ends, so that the record is in the order the model made them.
  const running = runner.runAll(reads.slice(0, left), turn);
  const refused = reads.slice(left).map((read) => runner.refuse(read, turn, cap));
  const calls = [...(await running), ...refused];
  recorder.messages.push(...toolMessages(calls, ids));
  if (refused.length > 0) return stopped('MAX_ITERATIONS', `${cap} is reached`);
  const question = runner.openQuestion();
  if (question === null) return null;
  return { status: 'INPUT_REQUIRED', reason: 'the agent asked the user (ask_user)', answer: question };
}

/** Takes an assistant text: the next user turn follows, or the trial ends. Null: go on. */
function answerText(loop: ChatLoop, reply: ModelReply): Outcome | null {
  const { recorder, runner } = loop;
  const text = nonEmpty(reply.content) ?? nonEmpty(reply.refusal);
  if (text !== null) recorder.messages.push({ role: 'assistant', content: text });
  if (reply.finish_reason === 'content_filter') {
    return stopped('FAILED', 'content_filter: the reply was cut by the content filter');
  }
  if (text === null) {
    return stopped('FAILED', `empty reply: neither text nor tool call (finish_reason ${reply.finish_reason})`);
  }
  const next = loop.turns.shift();
  if (next !== undefined) {
    recorder.messages.push(userMessage(next));
    return null;
  }
  return { status: runner.escalated() ? 'ESCALATED' : 'COMPLETED', reason: remarkOf(reply), answer: text };
}

/** What a reader should know of an answer that is one; null when nothing. */
function remarkOf(reply: ModelReply): string | null {
  if (nonEmpty(reply.content) === null) return "refusal: the model refused in the protocol's refusal field";
  return reply.finish_reason === 'length' ? 'the answer is cut: finish_reason length (max_output_tokens)' : null;
}

/** The ending a refusal of the model makes (a full context, the content filter); null: the error is infrastructure. */
export function refusedBy(error: unknown): Outcome | null {
  if (!(error instanceof ModelError) || (error.kind !== 'context_length' && error.kind !== 'content_filter')) {
    return null;
  }
  return stopped('FAILED', `${error.kind}: ${error.message}`);
}

/** An ending without a final answer: what the agent said on the way is in the messages, and is no answer to be scored. */
export function stopped(status: Outcome['status'], reason: string): Outcome {
  return { status, reason, answer: null };
}

function nonEmpty(text: string | null): string | null {
  return text === null || text.trim() === '' ? null : text;
}
