import type { ChatMessage, EvalCase, ToolDefinition } from '../../core/case.ts';
import { isJsonObject } from '../../core/json.ts';
import type { Json, JsonObject } from '../../core/json.ts';
import { type ToolCall, type Trajectory, UNKNOWN_USAGE } from '../../core/trajectory.ts';
import { countGiven } from './given-messages.ts';
import { textOf } from './message-text.ts';

/** A raw tool call as read by the agents' own reader, so that recorded and live calls mean the same. */
interface ReadToolCall {
  id: string | null;
  tool: string;
  args: JsonObject | null;
  rawArguments: string | null;
  malformed: string | null;
}

/** What recorded messages do not say: given by the caller where it knows. */
export interface MessageFacts {
  /** Tools that were on offer; default none, then arguments are not checked against schemas. */
  tools?: ToolDefinition[];
  readToolCall: (raw: Json) => ReadToolCall;
  /** The case they are of: turns it brought along are not the agent's. */
  evalCase?: Pick<EvalCase, 'context' | 'messages'>;
}

/**
 * Turns OpenAI chat messages into a trajectory. Tool results are paired with the calls of the turn they follow: by id, and
 * where ids repeat or are empty, in order. Malformed calls are kept as such. Tokens and times are unknown (null, and 0 for
 * both times); the final status is COMPLETED. Turns that the case brought along stand in the messages only.
 */
export function trajectoryFromMessages(messages: readonly Json[], facts: MessageFacts): Trajectory {
  const state: Conversation = { calls: [], waiting: [], turn: -1, answer: null, facts };
  const given = facts.evalCase === undefined ? 0 : countGiven(messages, facts.evalCase);
  for (const message of messages.slice(given)) if (isJsonObject(message)) take(message, state);
  return {
    version: 1,
    final_status: 'COMPLETED',
    final_status_reason: null,
    answer: state.answer,
    messages: messages.filter(isJsonObject).map(toMessage),
    tool_calls: state.calls,
    available_tools: facts.tools ?? [],
    iterations: state.turn + 1,
    model_calls: state.turn + 1,
    usage: UNKNOWN_USAGE,
    sub_agents: [],
    end_state: null,
    unmatched_calls: [],
    plan: null,
    retrieved_doc_ids: null,
    model: null,
    time_to_first_token_ms: null,
    approval_wait_ms: 0,
    started_at_ms: 0,
    ended_at_ms: 0,
  };
}

interface Conversation {
  calls: ToolCall[];
  /** Calls of the last assistant turn that have no result yet. */
  waiting: ToolCall[];
  turn: number;
  answer: string | null;
  facts: MessageFacts;
}

function take(message: JsonObject, state: Conversation): void {
  if (message['role'] === 'assistant') takeAssistant(message, state);
  else if (message['role'] === 'tool' || message['role'] === 'function') takeResult(message, state);
}

function takeAssistant(message: JsonObject, state: Conversation): void {
  state.turn += 1;
  const text = textOf(message['content'] ?? null);
  if (text !== null && text !== '') state.answer = text;
  state.waiting = rawCalls(message).map((raw, at) => {
    const read = state.facts.readToolCall(raw);
    return toolCall(read, state.calls.length + at, state.turn);
  });
  state.calls.push(...state.waiting);
}

/** `tool_calls`, or the older single `function_call`. Something that is no list is one malformed call. */
function rawCalls(message: JsonObject): Json[] {
  const calls = message['tool_calls'];
  if (Array.isArray(calls)) return calls;
  if (calls !== undefined && calls !== null) return [calls];
  const single = message['function_call'];
  return single === undefined || single === null ? [] : [{ type: 'function', function: single }];
}

function toolCall(read: ReadToolCall, index: number, turn: number): ToolCall {
  return {
    index,
    turn,
    id: read.id,
    tool: read.tool,
    args: read.args,
    raw_arguments: read.rawArguments,
    malformed: read.malformed,
    result: null,
    error: null,
    approved: null,
    started_at_ms: 0,
    ended_at_ms: 0,
  };
}

function takeResult(message: JsonObject, state: Conversation): void {
  const id = message['tool_call_id'];
  const named = typeof id === 'string' && id !== '' ? state.waiting.findIndex((call) => call.id === id) : -1;
  const at = named >= 0 ? named : state.waiting.findIndex((call) => typeof id !== 'string' || id === '' || !call.id);
  const call = state.waiting[at];
  if (call === undefined) return;
  call.result = textOf(message['content'] ?? null);
  state.waiting.splice(at, 1);
}

const ROLES: ReadonlySet<string> = new Set(['system', 'developer', 'user', 'assistant', 'tool']);

function toMessage(raw: JsonObject): ChatMessage {
  const { role, tool_calls: calls, tool_call_id: id, name } = raw;
  return {
    role: (typeof role === 'string' && ROLES.has(role) ? role : 'tool') as ChatMessage['role'],
    content: textOf(raw['content'] ?? null),
    ...(Array.isArray(calls) ? { tool_calls: calls } : {}),
    ...(typeof id === 'string' ? { tool_call_id: id } : {}),
    ...(typeof name === 'string' ? { name } : {}),
  };
}
