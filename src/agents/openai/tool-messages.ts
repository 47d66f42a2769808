import type { ChatMessage, ToolDefinition } from '../../core/case.ts';
import { isJsonObject, type Json } from '../../core/json.ts';
import type { ModelReply } from '../../core/model.ts';
import { MALFORMED_TOOL, type ToolCall } from '../../core/trajectory.ts';
import type { ReadCall } from './read-tool-call.ts';
import { toolMessageText } from '../tool-runner.ts';

/**
 * The ids under which calls are sent back. Models repeat ids or leave them out (T10), endpoints pair answers by id: an
 * id is kept when it is the first of its kind in the conversation, else replaced by `call_<n>`.
 */
export function createCallIds(): (id: string | null) => string {
  const used = new Set<string>();
  let made = 0;
  return (id) => {
    let unique = id ?? '';
    while (unique === '' || used.has(unique)) {
      made += 1;
      unique = `call_${made}`;
    }
    used.add(unique);
    return unique;
  };
}

/**
 * The assistant message that goes back into the conversation. Well-formed calls go back as they came. A malformed one
 * goes back as a call with `{"malformed": "<its text>"}`, because endpoints refuse a history with calls they cannot
 * read; the trajectory keeps the text itself.
 */
export function assistantMessage(
  reply: Pick<ModelReply, 'content' | 'tool_calls'>,
  reads: readonly ReadCall[],
  ids: readonly string[],
  tools: readonly ToolDefinition[],
): ChatMessage {
  const message: ChatMessage = { role: 'assistant', content: reply.content };
  if (reads.length === 0) return message;
  message.tool_calls = reads.map((read, index) => ({
    id: ids[index] ?? '',
    type: 'function',
    function: { name: safeName(read.tool, tools), arguments: argumentsText(read, reply.tool_calls[index] ?? null) },
  }));
  return message;
}

/** The answers to the calls of one turn, in the order of the calls. */
export function toolMessages(calls: readonly ToolCall[], ids: readonly string[]): ChatMessage[] {
  return calls.map((call, index) => ({
    role: 'tool',
    tool_call_id: ids[index] ?? '',
    content: toolMessageText(call),
  }));
}

function argumentsText(read: ReadCall, raw: Json): string {
  if (read.malformed !== null) return JSON.stringify({ malformed: read.rawArguments });
  const fn = isJsonObject(raw) ? raw['function'] : null;
  const text = isJsonObject(fn) ? fn['arguments'] : null;
  return typeof text === 'string' ? text : JSON.stringify(read.args);
}

/** Names outside what endpoints accept come from models only; an offered name is left as it is. */
function safeName(name: string, tools: readonly ToolDefinition[]): string {
  if (name === MALFORMED_TOOL) return 'malformed_call';
  if (tools.some((tool) => tool.name === name)) return name;
  return name.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, 64);
}
