import { ModelError } from '../../core/errors.ts';
import { isJsonObject, type Json } from '../../core/json.ts';
import type { ModelRequest } from '../../core/model.ts';
import { MALFORMED_TOOL, type ToolCall } from '../../core/trajectory.ts';
import type { AgentInput } from '../agent.ts';
import type { ChildMessage, ParentMessage } from './module-protocol.ts';
import type { ModuleTurns } from './module-turns.ts';
import type { ReadCall } from '../openai/read-tool-call.ts';
import type { Recorder } from '../recorder.ts';
import { untilAborted } from '../sleep.ts';
import { isBrokenAnswer, toolMessageText, type ToolRunner } from '../tool-runner.ts';

/** A cap of the suite that ends a module's trial. */
export class CapReached extends Error {}

export interface ModuleTrialOptions {
  input: AgentInput;
  recorder: Recorder;
  runner: ToolRunner;
  turns: ModuleTurns;
  /** Aborted when the trial ends early, whatever the cause. */
  signal: AbortSignal;
  send: (message: ParentMessage) => void;
}

type CallMessage = Extract<ChildMessage, { group: number }>;

/** Answers what a module asks of its parent, and records it. Rejects for what ends the trial: a cap, infrastructure. */
export type ModuleService = (message: ChildMessage) => Promise<void>;

export function createModuleService(options: ModuleTrialOptions): ModuleService {
  const { runner, turns, send } = options;
  const own = new Map<number, ToolCall>();
  let modelCalls = 0;
  return async (message) => {
    switch (message.type) {
      case 'call':
        return answerCall(options, message);
      case 'started':
        checkCallCap(options, message);
        own.set(message.callId, runner.begin(readCall(message), turns.begin(message.group)));
        return;
      case 'ended': {
        const call = own.get(message.callId);
        if (call === undefined || !own.delete(message.callId)) return;
        runner.end(call, message.result, message.error);
        return;
      }
      case 'complete': {
        const request = readRequest(message.request);
        if (typeof request === 'string') {
          send({ type: 'refusal', callId: message.callId, error: { kind: 'bad_request', message: request } });
          return;
        }
        modelCalls += 1;
        return answerCompletion(options, message.callId, request, modelCalls - 1);
      }
      case 'loaded':
      case 'returned':
      case 'failed':
        return;
    }
  };
}

async function answerCall(options: ModuleTrialOptions, message: CallMessage): Promise<void> {
  const { runner, turns, recorder, send } = options;
  const { callId } = message;
  checkCallCap(options, message);
  const call = await runner.run(readCall(message), turns.begin(message.group));
  if (call.tool === 'request_approval') recorder.approvalWait(call.ended_at_ms - call.started_at_ms);
  if (call.error !== null && !isBrokenAnswer(call.error)) send({ type: 'refusal', callId, error: call.error });
  else send({ type: 'answer', callId, value: call.error === null ? call.result : toolMessageText(call) });
}

/** The call over the cap is recorded as not run, then the trial ends. */
function checkCallCap({ input, recorder, runner, turns }: ModuleTrialOptions, message: CallMessage): void {
  const { max_tool_calls } = input.suite.limits;
  if (recorder.callCount < max_tool_calls) return;
  const cap = `max_tool_calls (${max_tool_calls})`;
  runner.refuse(readCall(message), turns.begin(message.group), cap);
  throw new CapReached(`${cap} is reached`);
}

async function answerCompletion(
  options: ModuleTrialOptions,
  callId: number,
  request: ModelRequest,
  sequence: number,
): Promise<void> {
  const { input, recorder, turns, signal, send } = options;
  const { max_iterations, max_tokens, call_timeout_ms } = input.suite.limits;
  if (sequence >= max_iterations) throw new CapReached(`max_iterations (${max_iterations}) is reached`);
  const { total } = recorder.usage;
  if (total !== null && total >= max_tokens) {
    throw new CapReached(`max_tokens (${max_tokens}) is reached: ${total} tokens used`);
  }
  const place = { role: 'agent', path: '', dimension: '', vote: 0, sequence } as const;
  try {
    const call = input.model.complete(request, { signal, timeoutMs: call_timeout_ms, place });
    const reply = await untilAborted(call, signal);
    recorder.reply(reply);
    turns.replied(reply.tool_calls.length > 0);
    send({ type: 'completion', callId, reply });
  } catch (error) {
    // The agent's own: a full context or the content filter. Anything else is infrastructure and ends the trial.
    if (!(error instanceof ModelError) || (error.kind !== 'context_length' && error.kind !== 'content_filter')) {
      throw error;
    }
    send({ type: 'refusal', callId, error: { kind: error.kind, message: error.message } });
  }
}

function readCall({ tool, args }: CallMessage): ReadCall {
  const named = typeof tool === 'string' && tool !== '';
  const base = { id: null, tool: named ? tool : MALFORMED_TOOL };
  if (named && isJsonObject(args)) return { ...base, args, rawArguments: null, malformed: null };
  // A function without parameters is called without arguments: that is a well-formed call.
  if (named && args === null) return { ...base, args: {}, rawArguments: null, malformed: null };
  const malformed = named ? 'the arguments are no object' : 'the call names no tool';
  return { ...base, args: null, rawArguments: JSON.stringify(args), malformed };
}

/** The request a module made, or what is wrong with it. */
function readRequest(value: Json): ModelRequest | string {
  const wanted = 'complete expects {model, messages, tools?, temperature?, seed?, max_output_tokens?, …}';
  if (!isJsonObject(value)) return wanted;
  if (typeof value['model'] !== 'string' || value['model'] === '') return `${wanted}: model is missing`;
  if (!Array.isArray(value['messages'])) return `${wanted}: messages is no list`;
  return value as unknown as ModelRequest;
}
