import type { ChatMessage } from '../../core/case.ts';
import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import { FINAL_STATUSES, type SubAgentRun, type ToolCall } from '../../core/trajectory.ts';
import { readReportedCall } from './reported-call.ts';
import { readReportedUsage } from './reported-usage.ts';

/**
 * Sub-agent runs as an agent reports them: objects with the fields of `SubAgentRun`, of which only `name` must be there.
 * Null when the value is no list of such objects.
 */
export function readSubAgents(value: Json): SubAgentRun[] | null {
  if (!Array.isArray(value)) return null;
  const runs = value.map(readRun);
  return runs.some((run) => run === null) ? null : (runs as SubAgentRun[]);
}

function readRun(raw: Json): SubAgentRun | null {
  if (!isJsonObject(raw) || typeof raw['name'] !== 'string') return null;
  const calls = raw['tool_calls'] ?? [];
  if (!Array.isArray(calls)) return null;
  const status = FINAL_STATUSES.find((one) => one === raw['final_status']);
  return {
    name: raw['name'],
    input: textOf(raw['input']) ?? '',
    output: textOf(raw['output']),
    final_status: status ?? (raw['timed_out'] === true ? 'TIMEOUT' : 'COMPLETED'),
    tool_calls: calls.map(readCall),
    usage: readReportedUsage(raw['usage']),
    ...identity(raw),
    ...limits(raw),
    ...surroundings(raw),
  };
}

function identity(raw: JsonObject): Partial<SubAgentRun> {
  const { id, parent, dispatch_call_index: index } = raw;
  return {
    ...(typeof id === 'string' ? { id } : {}),
    ...(typeof parent === 'string' || parent === null ? { parent } : {}),
    ...(typeof index === 'number' || index === null ? { dispatch_call_index: index } : {}),
  };
}

function limits(raw: JsonObject): Partial<SubAgentRun> {
  const { allowed_tools: tools, timeout_ms: timeout, timed_out: timedOut, blocked } = raw;
  return {
    ...(isTexts(tools) || tools === null ? { allowed_tools: tools } : {}),
    ...(typeof timeout === 'number' || timeout === null ? { timeout_ms: timeout } : {}),
    ...(typeof timedOut === 'boolean' ? { timed_out: timedOut } : {}),
    ...(typeof blocked === 'string' || blocked === null ? { blocked } : {}),
  };
}

function surroundings(raw: JsonObject): Partial<SubAgentRun> {
  const { messages, passed_context: passed, initial_state: before, end_state: after } = raw;
  const { started_at_ms: started, ended_at_ms: ended } = raw;
  return {
    ...(isMessages(messages) ? { messages } : {}),
    ...(isTexts(passed) ? { passed_context: passed } : {}),
    ...(isJsonObject(before) || before === null ? { initial_state: before } : {}),
    ...(isJsonObject(after) || after === null ? { end_state: after } : {}),
    ...(typeof started === 'number' ? { started_at_ms: started } : {}),
    ...(typeof ended === 'number' ? { ended_at_ms: ended } : {}),
  };
}

function readCall(raw: Json, index: number): ToolCall {
  const { read, turn, result, error } = readReportedCall(raw);
  return {
    index,
    turn: turn ?? index,
    id: read.id,
    tool: read.tool,
    args: read.args,
    raw_arguments: read.rawArguments,
    malformed: read.malformed,
    result,
    error,
    approved: null,
    started_at_ms: 0,
    ended_at_ms: 0,
  };
}

function textOf(value: Json | undefined): string | null {
  if (value === undefined || value === null) return null;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function isTexts(value: Json | undefined): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

const ROLES: ReadonlySet<unknown> = new Set(['system', 'developer', 'user', 'assistant', 'tool']);

function isMessages(value: Json | undefined): value is Json[] & ChatMessage[] {
  return (
    Array.isArray(value) &&
    value.every((item) => isJsonObject(item) && ROLES.has(item['role']) && isTextOrNull(item['content']))
  );
}

function isTextOrNull(value: Json | undefined): boolean {
  return value === null || typeof value === 'string';
}
