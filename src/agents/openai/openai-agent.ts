import type { ToolDefinition } from '../../core/case.ts';
import { ModelError, UserError } from '../../core/errors.ts';
import type { ModelReply, ModelRequest } from '../../core/model.ts';
import type { OpenAiAgentConfig } from '../../core/suite.ts';
import type { Trajectory } from '../../core/trajectory.ts';
import type { Agent, AgentInput } from '../agent.ts';
import { conversationOf, toolsOf, userMessage } from './conversation.ts';
import { createMockWorld, type MockWorld } from '../mock/mock-world.ts';
import { readToolCall } from './read-tool-call.ts';
import { createRecorder, type Ending, type Recorder } from '../recorder.ts';
import { abortError, sleep, type Sleep, untilAborted } from '../sleep.ts';
import { startTimeCap, type TimeCap } from '../time-cap.ts';
import { assistantMessage, createCallIds, toolMessages } from './tool-messages.ts';
import { createToolRunner, type ToolRunner } from '../tool-runner.ts';

/** One trial in progress. */
interface Trial {
  input: AgentInput;
  config: OpenAiAgentConfig;
  tools: ToolDefinition[];
  world: MockWorld;
  recorder: Recorder;
  runner: ToolRunner;
  signal: AbortSignal;
  nextId: (id: string | null) => string;
  /** User turns still to be sent. */
  turns: string[];
}

/** An ending but for the world's state, which is read at the end. */
type Outcome = Omit<Ending, 'endState'>;

/**
 * The built-in agent: a chat loop over an OpenAI-compatible endpoint with the case's tools, answered by the mock world.
 * See docs/agents.md for how a trial ends. Rejects as {@link Agent} says; caps, refusals, a full context and the
 * content filter are endings of the trajectory, not rejections.
 */
export function createOpenAiAgent(options: { sleep?: Sleep } = {}): Agent {
  return {
    async run(input) {
      const config = input.suite.agent;
      if (config.type !== 'openai') {
        throw new UserError(`the agent of suite ${input.suite.name} is of type ${config.type}, not openai`);
      }
      const cap = startTimeCap(input.signal, input.evalCase.timeout_ms ?? input.suite.limits.timeout_ms);
      try {
        const trial = startTrial(input, config, cap.signal, options.sleep ?? sleep);
        return finish(trial, await converse(trial).catch((error: unknown) => endedBy(trial, cap, error)));
      } finally {
        cap.dispose();
      }
    },
  };
}

function startTrial(input: AgentInput, config: OpenAiAgentConfig, signal: AbortSignal, sleep: Sleep): Trial {
  const tools = toolsOf(input.evalCase, input.suite);
  const world = createMockWorld(input.evalCase, input.suite, { sleep });
  const recorder = createRecorder(tools, input.now);
  const conversation = conversationOf(input.evalCase, config.system_prompt);
  recorder.messages.push(...conversation.messages);
  const runner = createToolRunner({ world, recorder, tools, suite: input.suite, signal });
  return {
    input,
    config,
    tools,
    world,
    recorder,
    runner,
    signal,
    nextId: createCallIds(),
    turns: [...conversation.turns],
  };
}

function finish(trial: Trial, outcome: Outcome): Trajectory {
  return trial.recorder.finish({ ...outcome, endState: trial.world.state() });
}

async function converse(trial: Trial): Promise<Outcome> {
  for (;;) {
    const cap = reachedCap(trial);
    if (cap !== null) return stopped('MAX_ITERATIONS', cap);
    const reply = await ask(trial);
    const outcome = reply.tool_calls.length > 0 ? await answerCalls(trial, reply) : answerText(trial, reply);
    if (outcome !== null) return outcome;
  }
}

/** The cap that forbids another model turn. Calls have theirs in {@link answerCalls}: after the last one may come an answer. */
function reachedCap({ input, recorder }: Trial): string | null {
  const { max_iterations, max_tokens } = input.suite.limits;
  if (recorder.replyCount >= max_iterations) return `max_iterations (${max_iterations}) is reached`;
  const { total } = recorder.usage;
  return total !== null && total >= max_tokens ? `max_tokens (${max_tokens}) is reached: ${total} tokens used` : null;
}

async function ask(trial: Trial): Promise<ModelReply> {
  const { input, recorder, signal } = trial;
  const place = { role: 'agent', path: '', dimension: '', vote: 0, sequence: recorder.replyCount } as const;
  const timeoutMs = input.suite.limits.call_timeout_ms;
  const reply = await untilAborted(input.model.complete(requestOf(trial), { signal, timeoutMs, place }), signal);
  recorder.reply(reply);
  return reply;
}

function requestOf({ config, tools, recorder, input }: Trial): ModelRequest {
  return {
    model: config.model,
    // A copy: the request is journaled and must not grow with the conversation.
    messages: [...recorder.messages],
    ...(tools.length === 0 ? {} : { tools }),
    ...(config.temperature === undefined ? {} : { temperature: config.temperature }),
    // Each repetition its own seed, so that trials differ and a retried trial does not.
    ...(config.seed === undefined ? {} : { seed: config.seed + input.trialIndex - 1 }),
    ...(config.max_output_tokens === undefined ? {} : { max_output_tokens: config.max_output_tokens }),
    ...(config.stream === undefined ? {} : { stream: config.stream }),
    ...(config.extra_body === undefined ? {} : { extra_body: config.extra_body }),
  };
}

/** Runs the calls of one turn and gives the answers to the model. Null: go on. */
async function answerCalls(trial: Trial, reply: ModelReply): Promise<Outcome | null> {
  const { recorder, runner, input } = trial;
  const turn = recorder.replyCount - 1;
  const reads = reply.tool_calls.map(readToolCall);
  const ids = reads.map((read) => trial.nextId(read.id));
  recorder.messages.push(assistantMessage(reply, reads, ids, trial.tools));
  const { max_tool_calls } = input.suite.limits;
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
function answerText(trial: Trial, reply: ModelReply): Outcome | null {
  const { recorder, runner } = trial;
  const text = nonEmpty(reply.content) ?? nonEmpty(reply.refusal);
  if (text !== null) recorder.messages.push({ role: 'assistant', content: text });
  if (reply.finish_reason === 'content_filter') {
    return stopped('FAILED', 'content_filter: the reply was cut by the content filter');
  }
  if (text === null) {
    return stopped('FAILED', `empty reply: neither text nor tool call (finish_reason ${reply.finish_reason})`);
  }
  const next = trial.turns.shift();
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

/**
 * The time cap and refusals of the agent's model end the trial with what there is; a cancel and anything else goes on up.
 */
function endedBy(trial: Trial, cap: TimeCap, error: unknown): Outcome {
  if (trial.input.signal.aborted) throw abortError(trial.input.signal);
  if (cap.expired()) return stopped('TIMEOUT', `timeout_ms (${cap.ms} ms) is used up`);
  if (error instanceof ModelError && (error.kind === 'context_length' || error.kind === 'content_filter')) {
    return stopped('FAILED', `${error.kind}: ${error.message}`);
  }
  throw error;
}

/** An ending without a final answer: what the agent said on the way is in the messages, and is no answer to be scored. */
function stopped(status: Outcome['status'], reason: string): Outcome {
  return { status, reason, answer: null };
}

function nonEmpty(text: string | null): string | null {
  return text === null || text.trim() === '' ? null : text;
}
