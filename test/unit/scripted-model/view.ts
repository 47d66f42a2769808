import type { JsonObject } from '../../../src/core/json.ts';
import { viewRequest } from '../../../src/scripted-model/request-view.ts';
import type { RequestView } from '../../../src/scripted-model/request-view.ts';

export const user = (content: string): JsonObject => ({ role: 'user', content });
export const tool = (id: string, content: string): JsonObject => ({ role: 'tool', tool_call_id: id, content });
export const calls = (...list: [id: string, name: string][]): JsonObject => ({
  role: 'assistant',
  content: null,
  tool_calls: list.map(([id, name]) => ({ id, type: 'function', function: { name, arguments: '{}' } })),
});
export const offered = (...names: string[]): JsonObject => ({
  tools: names.map((name) => ({ type: 'function', function: { name } })),
});

export function view(messages: JsonObject[], rest: JsonObject = {}): RequestView {
  return viewRequest({ model: 'm', messages, ...rest });
}
