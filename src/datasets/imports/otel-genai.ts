import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import type { SubAgentRun, Usage } from '../../core/trajectory.ts';
import { fromGenAiMessages, fromSystemInstructions } from './genai-messages.ts';
import { callsOfSpans, type ImportedTrace, readArguments, sumUsage, type ToolSpan, tryJson } from './imported-trace.ts';
import type { OtlpSpan } from './otlp-spans.ts';

const CHAT = new Set(['chat', 'text_completion', 'generate_content']);

/**
 * Runs of agents in spans of the OpenTelemetry GenAI conventions, one a trace. The conversation is that of the last model
 * call of the main agent; `execute_tool` spans say how its calls went; `invoke_agent` spans inside another are sub-agents.
 * Traces without a model call, tool or agent are left out.
 * @param caseAttribute attribute, of any span or the resource, with the id of the case; default the trace's id
 */
export function readGenAiTraces(spans: readonly OtlpSpan[], caseAttribute: string): ImportedTrace[] {
  const traces = new Map<string, OtlpSpan[]>();
  for (const span of spans) traces.set(span.trace_id, [...(traces.get(span.trace_id) ?? []), span]);
  return [...traces.values()].flatMap((trace) => {
    const read = readTrace(
      trace.toSorted((a, b) => a.started_at_ms - b.started_at_ms),
      caseAttribute,
    );
    return read === null ? [] : [read];
  });
}

interface Tree {
  spans: OtlpSpan[];
  byId: Map<string, OtlpSpan>;
  /** The `invoke_agent` span each span works for: null for the main agent. */
  agentOf(span: OtlpSpan): OtlpSpan | null;
}

function readTrace(spans: OtlpSpan[], caseAttribute: string): ImportedTrace | null {
  const tree = treeOf(spans);
  const chats = spans.filter(isChat);
  const main = chats.filter((span) => tree.agentOf(span) === null);
  const tools = spans.filter((span) => isTool(span) && tree.agentOf(span) === null);
  const agents = spans.filter(isAgent);
  if (chats.length + tools.length + agents.length === 0) return null;
  const root = agents.find((span) => tree.agentOf(span) === null) ?? null;
  const named = spans.map((span) => span.attributes[caseAttribute]).find((id) => id !== undefined && id !== null);
  const trial = spans.map((span) => Number(span.attributes['assay.trial'])).find(Number.isSafeInteger);
  return {
    case_id:
      named === undefined ? (spans[0]?.trace_id ?? '') : typeof named === 'string' ? named : JSON.stringify(named),
    trial: trial ?? null,
    messages: conversationOf(main.at(-1) ?? root, root),
    tool_spans: tools.map(toolSpanOf),
    sub_agents: agents.filter((span) => isSubAgent(span, tree)).map((span) => subAgentOf(span, tree)),
    usage: sumUsage((chats.length > 0 ? chats : agents).map(usageOf)),
    iterations: main.length > 0 ? main.length : null,
    model_calls: chats.length > 0 ? chats.length : null,
    model: modelOf(main.at(-1) ?? chats.at(-1)),
    retrieved_doc_ids: documentsOf(spans),
    started_at_ms: Math.min(...spans.map((span) => span.started_at_ms)),
    ended_at_ms: Math.max(...spans.map((span) => span.ended_at_ms)),
    failure: root?.error ?? main.at(-1)?.error ?? null,
  };
}

function operation(span: OtlpSpan): Json | undefined {
  return span.attributes['gen_ai.operation.name'];
}

function isChat(span: OtlpSpan): boolean {
  const name = operation(span);
  if (typeof name === 'string') return CHAT.has(name);
  return span.attributes['gen_ai.request.model'] !== undefined && !isTool(span);
}

function isTool(span: OtlpSpan): boolean {
  return operation(span) === 'execute_tool' || (operation(span) === undefined && 'gen_ai.tool.name' in span.attributes);
}

function isAgent(span: OtlpSpan): boolean {
  return operation(span) === 'invoke_agent';
}

function treeOf(spans: OtlpSpan[]): Tree {
  const byId = new Map(spans.map((span) => [span.span_id, span]));
  const ancestors = (span: OtlpSpan): OtlpSpan[] => {
    const found: OtlpSpan[] = [];
    const seen = new Set([span]);
    for (
      let at = byId.get(span.parent_id ?? '');
      at !== undefined && !seen.has(at);
      at = byId.get(at.parent_id ?? '')
    ) {
      seen.add(at);
      found.push(at);
    }
    return found;
  };
  return {
    spans,
    byId,
    agentOf(span) {
      const agents = ancestors(span).filter(isAgent);
      // The outermost agent is the main one.
      return agents.length < 2 ? null : (agents[0] ?? null);
    },
  };
}

/** An agent that another invoked. */
function isSubAgent(span: OtlpSpan, tree: Tree): boolean {
  for (
    let at = tree.byId.get(span.parent_id ?? ''), steps = 0;
    at !== undefined && steps < tree.spans.length;
    steps += 1
  ) {
    if (isAgent(at)) return true;
    at = tree.byId.get(at.parent_id ?? '');
  }
  return false;
}

function subAgentOf(span: OtlpSpan, tree: Tree): SubAgentRun {
  const own = tree.spans.filter((one) => tree.agentOf(one) === span);
  const chats = own.filter(isChat);
  const messages = conversationOf(chats.at(-1) ?? span, span);
  const last = (role: string): string | null => {
    const content = messages.findLast((message) => message['role'] === role)?.['content'];
    return typeof content === 'string' ? content : null;
  };
  const name = span.attributes['gen_ai.agent.name'];
  return {
    id: span.span_id,
    name: typeof name === 'string' ? name : span.name.replace(/^invoke_agent\s*/, ''),
    input: last('user') ?? '',
    output: last('assistant'),
    final_status: span.error === null ? 'COMPLETED' : 'FAILED',
    tool_calls: callsOfSpans(own.filter(isTool).map(toolSpanOf)),
    usage: sumUsage((chats.length > 0 ? chats : [span]).map(usageOf)),
    started_at_ms: span.started_at_ms,
    ended_at_ms: span.ended_at_ms,
  };
}

/** What a model call was sent and answered, in attributes of the span or of its events. */
function conversationOf(span: OtlpSpan | null | undefined, agent: OtlpSpan | null): JsonObject[] {
  if (span === null || span === undefined) return [];
  const own = messagesOf(span);
  // Some record content on the agent's span only.
  return own.length === 0 && agent !== null ? messagesOf(agent) : own;
}

function messagesOf(span: OtlpSpan): JsonObject[] {
  const places = [span.attributes, ...span.events.map((event) => event.attributes)];
  const found = (name: string): Json | undefined =>
    places.map((place) => place[name]).find((value) => value !== undefined);
  const system = fromSystemInstructions(found('gen_ai.system_instructions'));
  const input = fromGenAiMessages(found('gen_ai.input.messages') ?? found('gen_ai.prompt'));
  const output = fromGenAiMessages(found('gen_ai.output.messages') ?? found('gen_ai.completion')).map(asAssistant);
  if (input.length + output.length > 0) return [...system, ...input, ...output];
  return [...system, ...indexedMessages(span.attributes), ...eventMessages(span)];
}

function asAssistant(message: JsonObject): JsonObject {
  return message['role'] === 'user' ? { ...message, role: 'assistant' } : message;
}

/** `gen_ai.prompt.0.role`, `gen_ai.completion.0.content`, …: older instrumentation writes a message as attributes. */
function indexedMessages(attributes: JsonObject): JsonObject[] {
  const messages: JsonObject[] = [];
  for (const [prefix, role] of [
    ['gen_ai.prompt', 'user'],
    ['gen_ai.completion', 'assistant'],
  ] as const) {
    for (let at = 0; `${prefix}.${at}.role` in attributes || `${prefix}.${at}.content` in attributes; at += 1) {
      const content = attributes[`${prefix}.${at}.content`] ?? null;
      const calls = indexedCalls(attributes, `${prefix}.${at}.tool_calls`);
      const id = attributes[`${prefix}.${at}.tool_call_id`];
      messages.push({
        role: attributes[`${prefix}.${at}.role`] ?? role,
        content,
        ...(calls.length === 0 ? {} : { tool_calls: calls }),
        ...(id === undefined ? {} : { tool_call_id: id }),
      });
    }
  }
  return messages;
}

function indexedCalls(attributes: JsonObject, prefix: string): JsonObject[] {
  const calls: JsonObject[] = [];
  for (let at = 0; `${prefix}.${at}.name` in attributes; at += 1) {
    const args = attributes[`${prefix}.${at}.arguments`];
    calls.push({
      id: attributes[`${prefix}.${at}.id`] ?? null,
      type: 'function',
      function: {
        name: attributes[`${prefix}.${at}.name`] ?? null,
        ...(args === undefined ? {} : { arguments: args }),
      },
    });
  }
  return calls;
}

const EVENT_ROLES: Record<string, string> = {
  'gen_ai.system.message': 'system',
  'gen_ai.user.message': 'user',
  'gen_ai.assistant.message': 'assistant',
  'gen_ai.tool.message': 'tool',
  'gen_ai.choice': 'assistant',
};

/** One event a message, as conventions before 1.37 have it. */
function eventMessages(span: OtlpSpan): JsonObject[] {
  return span.events.flatMap(({ name, attributes }) => {
    const role = EVENT_ROLES[name];
    if (role === undefined) return [];
    const inner = attributes['message'];
    const message = typeof inner === 'string' ? tryJson(inner) : (inner ?? null);
    const source = isJsonObject(message) ? { ...attributes, ...message } : attributes;
    const calls = typeof source['tool_calls'] === 'string' ? tryJson(source['tool_calls']) : source['tool_calls'];
    const id = source['id'];
    return [
      {
        role,
        content: source['content'] ?? null,
        ...(Array.isArray(calls) ? { tool_calls: calls } : {}),
        ...(role === 'tool' && typeof id === 'string' ? { tool_call_id: id } : {}),
      },
    ];
  });
}

function toolSpanOf(span: OtlpSpan): ToolSpan {
  const { attributes } = span;
  const id = attributes['gen_ai.tool.call.id'];
  const name = attributes['gen_ai.tool.name'];
  const result = attributes['gen_ai.tool.call.result'];
  return {
    id: typeof id === 'string' ? id : null,
    tool: typeof name === 'string' ? name : span.name.replace(/^execute_tool\s*/, ''),
    ...readArguments(attributes['gen_ai.tool.call.arguments']),
    result: typeof result === 'string' ? tryJson(result) : result,
    error: span.error === null ? null : { kind: 'error', message: span.error },
    started_at_ms: span.started_at_ms,
    ended_at_ms: span.ended_at_ms,
  };
}

function usageOf({ attributes }: OtlpSpan): Usage {
  const count = (...names: string[]): number | null => {
    const value = names.map((name) => attributes[`gen_ai.usage.${name}`]).find((one) => typeof one === 'number');
    return typeof value === 'number' && value >= 0 ? value : null;
  };
  const input = count('input_tokens', 'prompt_tokens');
  const output = count('output_tokens', 'completion_tokens');
  return {
    input,
    cached: count('cache_read.input_tokens', 'cached_tokens'),
    output,
    reasoning: count('reasoning.output_tokens', 'reasoning_tokens'),
    total: input === null || output === null ? null : input + output,
  };
}

function modelOf(span: OtlpSpan | undefined): string | null {
  const model = span?.attributes['gen_ai.response.model'] ?? span?.attributes['gen_ai.request.model'];
  return typeof model === 'string' ? model : null;
}

/** `gen_ai.retrieval.documents`: a list of objects with ids. */
function documentsOf(spans: readonly OtlpSpan[]): string[] | null {
  const lists = spans.flatMap((span) => {
    const value = span.attributes['gen_ai.retrieval.documents'];
    const documents = typeof value === 'string' ? tryJson(value) : value;
    return Array.isArray(documents) ? [documents] : [];
  });
  if (lists.length === 0) return null;
  const ids = lists.flat().map((document) => (isJsonObject(document) ? document['id'] : document));
  return [...new Set(ids.filter((id) => typeof id === 'string'))];
}
