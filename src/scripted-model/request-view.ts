import { isJsonObject } from '../core/json.ts';
import type { JsonObject } from '../core/json.ts';

/** What rules look at in a chat request, read once. */
export interface RequestView {
  model: string;
  stream: boolean;
  includeUsage: boolean;
  seed: number | null;
  /** Text of the last user message; empty when there is none. */
  lastUser: string;
  system: string[];
  texts: string[];
  tools: string[];
  /** Assistant messages so far. */
  turn: number;
  /** Tool whose result is the last message; null when the last message is none. */
  afterTool: string | null;
  /** Results of the last assistant turn's calls, one a line; empty when the request does not end with them. */
  lastTool: string;
}

/** Reads a request body of `POST /v1/chat/completions`. Lenient: what is not understood is treated as absent. */
export function viewRequest(body: JsonObject): RequestView {
  const messages = (Array.isArray(body['messages']) ? body['messages'] : []).filter(isJsonObject);
  const options = body['stream_options'];
  const trailing = trailingToolMessages(messages);
  return {
    model: typeof body['model'] === 'string' ? body['model'] : '',
    stream: body['stream'] === true,
    includeUsage: isJsonObject(options) && options['include_usage'] === true,
    seed: typeof body['seed'] === 'number' ? body['seed'] : null,
    lastUser: textOf(messages.findLast((message) => message['role'] === 'user')),
    system: messages.filter((message) => message['role'] === 'system' || message['role'] === 'developer').map(textOf),
    texts: messages.map(textOf),
    tools: toolNames(body['tools']),
    turn: messages.filter((message) => message['role'] === 'assistant').length,
    afterTool: toolOfLast(messages, trailing.length),
    lastTool: trailing.map(textOf).join('\n'),
  };
}

/** A message's text, whether its content is a string or a list of parts. */
function textOf(message: JsonObject | undefined): string {
  const content = message?.['content'];
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((part) => (isJsonObject(part) && typeof part['text'] === 'string' ? part['text'] : '')).join('');
}

function toolNames(tools: unknown): string[] {
  if (!Array.isArray(tools)) return [];
  return tools.flatMap((tool: unknown) => {
    const definition = isJsonObject(tool) ? tool['function'] : undefined;
    return isJsonObject(definition) && typeof definition['name'] === 'string' ? [definition['name']] : [];
  });
}

function trailingToolMessages(messages: JsonObject[]): JsonObject[] {
  const last = messages.findLastIndex((message) => message['role'] !== 'tool');
  return messages.slice(last + 1);
}

/** The tool that the last message answers: by id where the id names one call, else by position in the turn. */
function toolOfLast(messages: JsonObject[], trailing: number): string | null {
  if (trailing === 0) return null;
  const assistant = messages[messages.length - trailing - 1];
  const calls = (Array.isArray(assistant?.['tool_calls']) ? assistant['tool_calls'] : []).filter(isJsonObject);
  const id = messages.at(-1)?.['tool_call_id'];
  const withId = calls.filter((call) => call['id'] === id);
  const call = withId.length === 1 ? withId[0] : calls[trailing - 1];
  const definition = call?.['function'];
  if (isJsonObject(definition) && typeof definition['name'] === 'string') return definition['name'];
  const name = messages.at(-1)?.['name'];
  return typeof name === 'string' ? name : null;
}
