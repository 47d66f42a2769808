import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';

/** A recorded run as OpenAI chat messages: a record for `trajectoryFromRecord`. */
export interface MessageRecord {
  case_id: string;
  trial: number | null;
  record: JsonObject;
}

/**
 * Reads one line of recorded OpenAI messages: a list of messages, `{messages, …}`, the `{messages, tools}` of fine-tuning
 * files, or a request with its reply (`{request: {messages}, response: {choices}}`, as proxies log them). The case is
 * `caseId`, `case_id`, `custom_id` or `id`, else `line-<n>`. Other keys (`answer`, `usage`, `tool_calls` …) are kept.
 * Null when there are no messages.
 */
export function readMessageRecord(value: Json, line: number): MessageRecord | null {
  if (Array.isArray(value)) return { case_id: `line-${line}`, trial: null, record: { messages: value } };
  if (!isJsonObject(value)) return null;
  const { caseId, case_id: snake, custom_id: custom, id, trial, request, response, body, tools, ...rest } = value;
  const named = [caseId, snake, custom, id].find((one) => typeof one === 'string' && one !== '');
  const asked = [value['messages'], inside(request, 'messages'), inside(body, 'messages')].find(Array.isArray);
  if (asked === undefined && !Array.isArray(value['tool_calls'])) return null;
  const reply = replyOf(response ?? value);
  const messages = asked === undefined ? [] : [...asked, ...(reply === null ? [] : [reply])];
  const offered = toolsOf(tools ?? inside(request, 'tools'));
  return {
    case_id: typeof named === 'string' ? named : `line-${line}`,
    trial: typeof trial === 'number' ? trial : null,
    record: {
      ...rest,
      messages,
      ...(offered === null ? {} : { available_tools: offered }),
      ...(reply === null ? {} : usageOf(response ?? value)),
    },
  };
}

/** The assistant message of a chat completion; null when the value is none. */
function replyOf(value: Json): JsonObject | null {
  const completion = isJsonObject(value) && isJsonObject(value['body']) ? value['body'] : value;
  const choices = isJsonObject(completion) ? completion['choices'] : undefined;
  const first = Array.isArray(choices) ? choices[0] : undefined;
  const message = isJsonObject(first) ? first['message'] : undefined;
  return isJsonObject(message) ? { role: 'assistant', content: null, ...message } : null;
}

function usageOf(value: Json): JsonObject {
  const completion = isJsonObject(value) && isJsonObject(value['body']) ? value['body'] : value;
  const usage = isJsonObject(completion) ? completion['usage'] : undefined;
  const model = isJsonObject(completion) ? completion['model'] : undefined;
  const named: JsonObject = typeof model === 'string' ? { model } : {};
  if (!isJsonObject(usage)) return named;
  const { prompt_tokens: input = null, completion_tokens: output = null, total_tokens: total = null } = usage;
  return { ...named, usage: { input, output, total } };
}

/** Tools in the form of OpenAI as tool definitions. */
function toolsOf(value: Json | undefined): Json[] | null {
  if (!Array.isArray(value)) return null;
  return value.map((tool) => (isJsonObject(tool) && isJsonObject(tool['function']) ? tool['function'] : tool));
}

function inside(value: Json | undefined, key: string): Json | undefined {
  return isJsonObject(value) ? value[key] : undefined;
}
