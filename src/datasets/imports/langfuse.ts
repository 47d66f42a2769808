import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import type { SubAgentRun, Usage } from '../../core/trajectory.ts';
import { fromGenAiMessages } from './genai-messages.ts';
import { callsOfSpans, type ImportedTrace, readArguments, sumUsage, type ToolSpan, tryJson } from './imported-trace.ts';

/**
 * Runs of agents in a Langfuse export: traces with their `observations`, as a list, under `data`, or one. Generations are
 * model calls, observations of type TOOL tool calls, AGENT inside AGENT sub-agents. The case is `metadata.<caseKey>` of the
 * trace, else the trace's id. Null when the value holds no trace.
 */
export function readLangfuseTraces(value: Json, caseKey: string): ImportedTrace[] | null {
  const list = isJsonObject(value) && Array.isArray(value['data']) ? value['data'] : value;
  const traces = (Array.isArray(list) ? list : [list]).filter(isJsonObject);
  const known = traces.filter((trace) => typeof trace['id'] === 'string' && Array.isArray(trace['observations']));
  if (known.length === 0 || known.length < traces.length) return null;
  return known.map((trace) => readTrace(trace, caseKey));
}

interface Observation {
  id: string;
  parent: string | null;
  type: string;
  raw: JsonObject;
  started_at_ms: number;
  ended_at_ms: number;
}

function readTrace(trace: JsonObject, caseKey: string): ImportedTrace {
  const all = listOf(trace['observations'])
    .map(observationOf)
    .toSorted((a, b) => a.started_at_ms - b.started_at_ms);
  const byId = new Map(all.map((one) => [one.id, one]));
  const owner = (one: Observation): Observation | null => ownerOf(one, byId);
  const agents = all.filter((one) => one.type === 'AGENT' && agentsAbove(one, byId).length > 0);
  const generations = all.filter((one) => one.type === 'GENERATION');
  const main = generations.filter((one) => owner(one) === null);
  const metadata = isJsonObject(trace['metadata']) ? trace['metadata'] : {};
  const named = metadata[caseKey];
  const trial = metadata['trial'];
  const times = all.flatMap((one) => [one.started_at_ms, one.ended_at_ms]);
  const began = milliseconds(trace['timestamp']);
  return {
    case_id: typeof named === 'string' || typeof named === 'number' ? String(named) : (textOf(trace['id']) ?? ''),
    trial: typeof trial === 'number' && Number.isSafeInteger(trial) ? trial : null,
    messages: conversationOf(main.at(-1)?.raw ?? null, trace),
    tool_spans: all.filter((one) => one.type === 'TOOL' && owner(one) === null).map(toolSpanOf),
    sub_agents: agents.map((agent) => subAgentOf(agent, all, owner)),
    usage: sumUsage(generations.map((one) => usageOf(one.raw))),
    iterations: main.length > 0 ? main.length : null,
    model_calls: generations.length > 0 ? generations.length : null,
    model: textOf(main.at(-1)?.raw['model']),
    retrieved_doc_ids: null,
    started_at_ms: times.length === 0 ? began : Math.min(...times),
    ended_at_ms: times.length === 0 ? began : Math.max(...times),
    failure: failureOf(main.at(-1)?.raw),
  };
}

function observationOf(raw: JsonObject): Observation {
  const started = milliseconds(raw['startTime']);
  return {
    id: textOf(raw['id']) ?? '',
    parent: textOf(raw['parentObservationId']),
    type: (textOf(raw['type']) ?? '').toUpperCase(),
    raw,
    started_at_ms: started,
    ended_at_ms: Math.max(started, milliseconds(raw['endTime'])),
  };
}

/** Agents above an observation, innermost first. */
function agentsAbove(one: Observation, byId: ReadonlyMap<string, Observation>): Observation[] {
  const found: Observation[] = [];
  const seen = new Set([one]);
  for (let at = byId.get(one.parent ?? ''); at !== undefined && !seen.has(at); at = byId.get(at.parent ?? '')) {
    seen.add(at);
    if (at.type === 'AGENT') found.push(at);
  }
  return found;
}

/** The sub-agent an observation belongs to; null for the main agent, which is the outermost. */
function ownerOf(one: Observation, byId: ReadonlyMap<string, Observation>): Observation | null {
  const agents = agentsAbove(one, byId);
  return agents.length < 2 ? null : (agents[0] ?? null);
}

function subAgentOf(
  agent: Observation,
  all: readonly Observation[],
  owner: (one: Observation) => Observation | null,
): SubAgentRun {
  const own = all.filter((one) => owner(one) === agent);
  const generations = own.filter((one) => one.type === 'GENERATION');
  const { raw } = agent;
  return {
    id: agent.id,
    name: textOf(raw['name']) ?? '',
    input: shown(raw['input']) ?? '',
    output: shown(raw['output']),
    final_status: raw['level'] === 'ERROR' ? 'FAILED' : 'COMPLETED',
    tool_calls: callsOfSpans(own.filter((one) => one.type === 'TOOL').map(toolSpanOf)),
    usage: sumUsage(generations.map((one) => usageOf(one.raw))),
    started_at_ms: agent.started_at_ms,
    ended_at_ms: agent.ended_at_ms,
  };
}

/** What the last model call was sent and answered; without one, what the trace itself says. */
function conversationOf(generation: JsonObject | null, trace: JsonObject): JsonObject[] {
  const source = generation ?? trace;
  const input = inner(source['input']);
  const output = inner(source['output']);
  const said = typeof output === 'string' ? [{ role: 'assistant', content: output }] : fromGenAiMessages(output);
  return [
    ...fromGenAiMessages(input),
    ...said.map((message) => (message['role'] === 'user' ? { ...message, role: 'assistant' } : message)),
  ];
}

/** `{messages: […]}` as its messages. */
function inner(value: Json | undefined): Json | undefined {
  const read = typeof value === 'string' ? tryJson(value) : value;
  return isJsonObject(read) && Array.isArray(read['messages']) ? read['messages'] : read;
}

function toolSpanOf({ raw, started_at_ms, ended_at_ms }: Observation): ToolSpan {
  const metadata = isJsonObject(raw['metadata']) ? raw['metadata'] : {};
  const result = raw['output'];
  return {
    id: textOf(metadata['tool_call_id']),
    tool: textOf(raw['name']) ?? '',
    ...readArguments(raw['input']),
    result: typeof result === 'string' ? tryJson(result) : result,
    error: failureOf(raw) === null ? null : { kind: 'error', message: failureOf(raw) ?? '' },
    started_at_ms,
    ended_at_ms,
  };
}

function failureOf(raw: JsonObject | undefined): string | null {
  return raw?.['level'] === 'ERROR' ? (textOf(raw['statusMessage']) ?? 'error') : null;
}

function usageOf(raw: JsonObject): Usage {
  const details = isJsonObject(raw['usageDetails']) ? raw['usageDetails'] : {};
  const usage = isJsonObject(raw['usage']) ? raw['usage'] : {};
  const count = (...values: (Json | undefined)[]): number | null => {
    const value = values.find((one) => typeof one === 'number');
    return typeof value === 'number' && value >= 0 ? value : null;
  };
  const input = count(details['input'], usage['input'], usage['promptTokens'], raw['promptTokens']);
  const output = count(details['output'], usage['output'], usage['completionTokens'], raw['completionTokens']);
  const sum = input === null || output === null ? null : input + output;
  return {
    input,
    cached: count(details['input_cached_tokens'], details['cache_read_input_tokens']),
    output,
    reasoning: count(details['output_reasoning_tokens'], details['reasoning_tokens']),
    total: count(details['total'], usage['total'], usage['totalTokens'], raw['totalTokens']) ?? sum,
  };
}

function listOf(value: Json | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

function textOf(value: Json | undefined): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

function shown(value: Json | undefined): string | null {
  if (value === undefined || value === null) return null;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function milliseconds(value: Json | undefined): number {
  const at = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(at) ? 0 : at;
}
