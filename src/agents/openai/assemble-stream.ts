import { ModelError } from '../../core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import type { ModelReply } from '../../core/model.ts';
import type { Usage } from '../../core/trajectory.ts';
import { readUsage } from './read-completion.ts';

interface PartialCall {
  id: Json;
  type: Json;
  name: string;
  arguments: string;
}

interface Assembly {
  content: string | null;
  refusal: string | null;
  /** By the `index` of the protocol, in the order seen. */
  calls: Map<string, PartialCall>;
  /** Entries that are no objects: kept as they came. */
  oddCalls: Json[];
  finishReason: string | null;
  usage: Usage;
  model: string | null;
  firstTokenAt: number | null;
  size: number;
}

/**
 * Puts the chunks of a streamed chat completion together.
 * @param clock milliseconds, any origin; used for the time to the first token.
 * @throws {ModelError} `connection` when the stream ends without a finish reason, `invalid_reply` when it grows past
 * `maxBytes`.
 */
export async function assembleStream(
  chunks: AsyncIterable<Json>,
  options: { requestId: string | null; startedAt: number; clock: () => number; maxBytes: number },
): Promise<ModelReply> {
  const assembly: Assembly = {
    content: null,
    refusal: null,
    calls: new Map(),
    oddCalls: [],
    finishReason: null,
    usage: readUsage(undefined),
    model: null,
    firstTokenAt: null,
    size: 0,
  };
  for await (const chunk of chunks) {
    addChunk(assembly, chunk, options.clock);
    if (assembly.size > options.maxBytes) {
      throw new ModelError('invalid_reply', `the reply is longer than ${options.maxBytes} bytes`);
    }
  }
  if (assembly.finishReason === null) {
    throw new ModelError('connection', 'the stream ended before the reply was complete');
  }
  return {
    content: assembly.content,
    refusal: assembly.refusal,
    tool_calls: [...[...assembly.calls.values()].map(toToolCall), ...assembly.oddCalls],
    finish_reason: assembly.finishReason,
    usage: assembly.usage,
    model: assembly.model,
    request_id: options.requestId,
    time_to_first_token_ms:
      assembly.firstTokenAt === null ? null : Math.max(0, assembly.firstTokenAt - options.startedAt),
  };
}

function addChunk(assembly: Assembly, chunk: Json, clock: () => number): void {
  if (!isJsonObject(chunk)) return;
  if (typeof chunk['model'] === 'string' && chunk['model'] !== '') assembly.model = chunk['model'];
  if (isJsonObject(chunk['usage'])) assembly.usage = readUsage(chunk['usage']);
  const choice = Array.isArray(chunk['choices']) ? chunk['choices'][0] : undefined;
  if (!isJsonObject(choice)) return;
  if (typeof choice['finish_reason'] === 'string') assembly.finishReason = choice['finish_reason'];
  const delta = choice['delta'];
  if (!isJsonObject(delta)) return;
  const before = assembly.size;
  addText(assembly, 'content', delta['content']);
  addText(assembly, 'refusal', delta['refusal']);
  const calls = delta['tool_calls'];
  if (Array.isArray(calls)) for (const call of calls) addCall(assembly, call);
  else if (calls !== undefined && calls !== null) addCall(assembly, calls);
  if (assembly.firstTokenAt === null && assembly.size > before) assembly.firstTokenAt = clock();
}

function addText(assembly: Assembly, key: 'content' | 'refusal', part: Json | undefined): void {
  if (typeof part !== 'string') return;
  assembly[key] = (assembly[key] ?? '') + part;
  assembly.size += part.length;
}

function addCall(assembly: Assembly, part: Json): void {
  assembly.size += 1;
  if (!isJsonObject(part)) {
    assembly.oddCalls.push(part);
    return;
  }
  const call = partialCall(assembly, part);
  if (typeof part['id'] === 'string' && part['id'] !== '') call.id = part['id'];
  if (typeof part['type'] === 'string') call.type = part['type'];
  const fn = part['function'];
  if (!isJsonObject(fn)) return;
  // A name comes once, but some endpoints repeat the whole name in every chunk.
  if (typeof fn['name'] === 'string' && fn['name'] !== call.name) call.name += fn['name'];
  const text = fn['arguments'];
  if (typeof text === 'string') call.arguments += text;
  else if (text !== undefined && text !== null) call.arguments += JSON.stringify(text);
  assembly.size += typeof text === 'string' ? text.length : 0;
}

/** The call a part belongs to: by index; without one, a new id begins a new call and no id continues the last. */
function partialCall(assembly: Assembly, part: JsonObject): PartialCall {
  const { index, id } = part;
  let key: string;
  if (typeof index === 'number') key = `index ${index}`;
  else if (typeof id === 'string' && id !== '') key = `id ${id}`;
  else key = [...assembly.calls.keys()].at(-1) ?? 'index 0';
  let call = assembly.calls.get(key);
  if (call === undefined) {
    call = { id: null, type: 'function', name: '', arguments: '' };
    assembly.calls.set(key, call);
  }
  return call;
}

function toToolCall(call: PartialCall): Json {
  return { id: call.id, type: call.type, function: { name: call.name, arguments: call.arguments } };
}
