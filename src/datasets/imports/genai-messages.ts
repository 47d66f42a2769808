import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import { tryJson } from './imported-trace.ts';

/**
 * Messages of the OpenTelemetry GenAI conventions, `{role, parts: [{type: text | tool_call | tool_call_response, …}]}`, as
 * OpenAI chat messages. Messages that are in OpenAI's form already stay as they are. A text is read as JSON first.
 */
export function fromGenAiMessages(value: Json | undefined): JsonObject[] {
  const list = typeof value === 'string' ? tryJson(value) : (value ?? null);
  if (typeof list === 'string') return list.trim() === '' ? [] : [{ role: 'user', content: list }];
  const messages = Array.isArray(list) ? list : [list];
  return messages.filter(isJsonObject).flatMap(fromMessage);
}

/** `gen_ai.system_instructions`: a text, or parts. */
export function fromSystemInstructions(value: Json | undefined): JsonObject[] {
  const parts = typeof value === 'string' ? tryJson(value) : (value ?? null);
  const text = typeof parts === 'string' ? parts : textOf(Array.isArray(parts) ? parts.filter(isJsonObject) : []);
  return text === null || text === '' ? [] : [{ role: 'system', content: text }];
}

function fromMessage(message: JsonObject): JsonObject[] {
  const { role, parts } = message;
  if (!Array.isArray(parts)) return [openAiMessage(message)];
  const known = parts.filter(isJsonObject);
  const responses = known.filter((part) => part['type'] === 'tool_call_response').map(toolMessage);
  const calls = known.filter((part) => part['type'] === 'tool_call').map(toolCall);
  const text = textOf(known);
  if (text === null && calls.length === 0) return responses;
  return [
    {
      role: typeof role === 'string' ? role : 'user',
      content: text,
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
    },
    ...responses,
  ];
}

/** Without keys that no message has; content that is missing is null. */
function openAiMessage(message: JsonObject): JsonObject {
  const { role, content, tool_calls: calls, tool_call_id: id, name, function_call: single } = message;
  return {
    role: role ?? 'user',
    content: content ?? null,
    ...(calls === undefined ? {} : { tool_calls: calls }),
    ...(single === undefined ? {} : { function_call: single }),
    ...(id === undefined ? {} : { tool_call_id: id }),
    ...(name === undefined ? {} : { name }),
  };
}

function textOf(parts: readonly JsonObject[]): string | null {
  const texts = parts.flatMap((part) => {
    const text = part['content'] ?? part['text'];
    return (part['type'] ?? 'text') === 'text' && typeof text === 'string' ? [text] : [];
  });
  return texts.length === 0 ? null : texts.join('');
}

function toolCall(part: JsonObject): JsonObject {
  const { id = null, name = null, arguments: args } = part;
  return { id, type: 'function', function: { name, ...(args === undefined ? {} : { arguments: args }) } };
}

function toolMessage(part: JsonObject): JsonObject {
  const result = part['response'] ?? part['result'] ?? null;
  return {
    role: 'tool',
    ...(typeof part['id'] === 'string' ? { tool_call_id: part['id'] } : {}),
    content: typeof result === 'string' ? result : JSON.stringify(result),
  };
}
