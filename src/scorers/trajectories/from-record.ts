import type { ToolDefinition } from '../../core/case.ts';
import { isJsonObject } from '../../core/json.ts';
import type { Json, JsonObject } from '../../core/json.ts';
import { FINAL_STATUSES, MALFORMED_TOOL } from '../../core/trajectory.ts';
import type { FinalStatus, SubAgentRun, ToolCall, Trajectory, Usage } from '../../core/trajectory.ts';
import { artifactsOf } from './artifact-record.ts';
import { subAgentFacts } from './sub-agent-record.ts';
import { trajectoryFromMessages } from './from-messages.ts';
import type { MessageFacts } from './from-messages.ts';

/** A recorded trajectory that was read, or what is wrong with it and where. */
export type ReadTrajectory = { ok: true; trajectory: Trajectory } | { ok: false; path: string[]; problem: string };

class Fault extends Error {
  readonly path: string[];
  constructor(path: string[], problem: string) {
    super(problem);
    this.path = path;
  }
}

/**
 * Reads one recorded trajectory: `messages` (OpenAI chat messages), or the fields of a full trajectory with `tool_calls`,
 * in the record itself or under `trajectory`. What a full trajectory leaves out is taken as unknown; a call without a turn
 * of its own has one to itself. Fields of a full trajectory beside `messages` (`answer`, `final_status`, `usage`, `end_state`,
 * …) replace what the messages say.
 */
export function trajectoryFromRecord(record: JsonObject, facts: MessageFacts): ReadTrajectory {
  const inner = record['trajectory'];
  const source = isJsonObject(inner) ? inner : record;
  try {
    return { ok: true, trajectory: read(source, facts) };
  } catch (error) {
    if (error instanceof Fault) {
      return { ok: false, path: source === inner ? ['trajectory', ...error.path] : error.path, problem: error.message };
    }
    throw error;
  }
}

function read(source: JsonObject, facts: MessageFacts): Trajectory {
  const messages = source['messages'];
  const calls = source['tool_calls'];
  if (messages !== undefined && !Array.isArray(messages)) throw new Fault(['messages'], 'expected a list of messages');
  if (calls !== undefined && !Array.isArray(calls)) throw new Fault(['tool_calls'], 'expected a list of calls');
  if (messages === undefined && calls === undefined) {
    throw new Fault([], 'expected "messages" (OpenAI chat messages) or "tool_calls" (a full trajectory)');
  }
  (messages ?? []).forEach((message, at) => {
    if (!isJsonObject(message))
      throw new Fault(['messages', String(at)], 'expected a message: {"role": …, "content": …}');
  });
  const base = trajectoryFromMessages(messages ?? [], facts);
  const made = calls === undefined ? base.tool_calls : readCalls(calls, ['tool_calls']);
  const turns = made.reduce((most, call) => Math.max(most, call.turn + 1), 0);
  const iterations = number(source, 'iterations') ?? (messages === undefined ? turns : base.iterations);
  return {
    ...base,
    ...overrides(source),
    tool_calls: made,
    iterations,
    model_calls: number(source, 'model_calls') ?? iterations,
    available_tools: tools(source) ?? base.available_tools,
    answer: source['answer'] === undefined ? base.answer : text(source, 'answer'),
    sub_agents: subAgents(source),
  };
}

function overrides(source: JsonObject): Partial<Trajectory> {
  const state = source['end_state'];
  if (state !== undefined && state !== null && !isJsonObject(state))
    throw new Fault(['end_state'], 'expected an object');
  const stderr = text(source, 'stderr');
  const segments = promptSegments(source);
  const artifacts = artifactsOf(source['artifacts'] ?? null);
  if (typeof artifacts === 'string') throw new Fault(['artifacts'], artifacts);
  // One time without the other is no duration.
  const [start, end] = [number(source, 'started_at_ms'), number(source, 'ended_at_ms')];
  const timed = start !== null && end !== null;
  return {
    ...(stderr === null ? {} : { stderr }),
    ...(segments === undefined ? {} : { prompt_segments: segments }),
    ...(artifacts === null ? {} : { artifacts }),
    unmatched_calls: unmatchedCalls(source),
    final_status: finalStatus(source, 'COMPLETED'),
    final_status_reason: text(source, 'final_status_reason'),
    usage: usage(source),
    end_state: state ?? null,
    plan: texts(source, 'plan'),
    retrieved_doc_ids: texts(source, 'retrieved_doc_ids'),
    model: text(source, 'model'),
    time_to_first_token_ms: number(source, 'time_to_first_token_ms'),
    approval_wait_ms: number(source, 'approval_wait_ms') ?? 0,
    started_at_ms: timed ? start : 0,
    ended_at_ms: timed ? end : 0,
  };
}

function text(source: JsonObject, key: string, path: string[] = []): string | null {
  const value = source[key] ?? null;
  if (value !== null && typeof value !== 'string') throw new Fault([...path, key], 'expected a text or null');
  return value;
}

function number(source: JsonObject, key: string, path: string[] = []): number | null {
  const value = source[key] ?? null;
  if (value !== null && (typeof value !== 'number' || value < 0)) {
    throw new Fault([...path, key], 'expected a number of at least 0, or null');
  }
  return value;
}

function texts(source: JsonObject, key: string): string[] | null {
  const value = source[key] ?? null;
  if (value === null) return null;
  if (!Array.isArray(value)) throw new Fault([key], 'expected a list of texts');
  return value.map((item, at) => {
    if (typeof item !== 'string') throw new Fault([key, String(at)], 'expected a text');
    return item;
  });
}

function finalStatus(source: JsonObject, otherwise: FinalStatus, path: string[] = []): FinalStatus {
  const value = source['final_status'] ?? otherwise;
  const known = FINAL_STATUSES.find((status) => status === value);
  if (known === undefined) throw new Fault([...path, 'final_status'], `expected one of ${FINAL_STATUSES.join(', ')}`);
  return known;
}

function usage(source: JsonObject, path: string[] = []): Usage {
  const value = source['usage'] ?? {};
  if (!isJsonObject(value)) throw new Fault([...path, 'usage'], 'expected {input, cached, output, reasoning, total}');
  const at = [...path, 'usage'];
  const [input, output] = [number(value, 'input', at), number(value, 'output', at)];
  const sum = input === null || output === null ? null : input + output;
  return {
    input,
    cached: number(value, 'cached', at),
    output,
    reasoning: number(value, 'reasoning', at),
    total: number(value, 'total', at) ?? sum,
  };
}

function tools(source: JsonObject): ToolDefinition[] | null {
  const value = source['available_tools'] ?? null;
  if (value === null) return null;
  if (!Array.isArray(value)) throw new Fault(['available_tools'], 'expected a list of tools');
  return value.map((tool, at) => {
    const path = ['available_tools', String(at)];
    if (!isJsonObject(tool) || typeof tool['name'] !== 'string')
      throw new Fault(path, 'expected {name, description, parameters}');
    const { description, parameters } = tool;
    return {
      name: tool['name'],
      ...(typeof description === 'string' ? { description } : {}),
      ...(isJsonObject(parameters) ? { parameters } : {}),
    };
  });
}

/** A call that states no turn has one of its own: where others state theirs, turns are counted anew, in the order made. */
function readCalls(raw: readonly Json[], path: string[]): ToolCall[] {
  const read = raw.map((call, at) => readCall(call, at, [...path, String(at)]));
  const turns = read.map(({ turn }) => turn);
  const counted = turns.includes(null);
  let current = -1;
  return read.map(({ call, turn }, at) => {
    if (turn === null || turn !== turns[at - 1]) current += 1;
    return { ...call, turn: counted || turn === null ? current : turn };
  });
}

function readCall(raw: Json, at: number, path: string[]): { call: Omit<ToolCall, 'turn'>; turn: number | null } {
  if (!isJsonObject(raw)) throw new Fault(path, 'expected a call: {"tool": …, "args": {…}}');
  const args = raw['args'] ?? null;
  if (args !== null && !isJsonObject(args))
    throw new Fault([...path, 'args'], 'expected an object, or null for a malformed call');
  const tool = text(raw, 'tool', path) ?? '';
  const nameless = tool === '' || tool === MALFORMED_TOOL;
  const rawArguments = text(raw, 'raw_arguments', path);
  const malformed = text(raw, 'malformed', path);
  const error = raw['error'] ?? null;
  const approved = raw['approved'];
  const call = {
    index: at,
    id: text(raw, 'id', path),
    tool: nameless ? MALFORMED_TOOL : tool,
    args: nameless ? null : args,
    raw_arguments: rawArguments ?? (nameless && args !== null ? JSON.stringify(args) : null),
    malformed: malformed ?? (nameless ? 'the call names no tool' : args === null ? 'no arguments were recorded' : null),
    result: raw['result'] ?? null,
    error: isJsonObject(error)
      ? { kind: text(error, 'kind', path) ?? 'error', message: text(error, 'message', path) ?? '' }
      : null,
    approved: typeof approved === 'boolean' ? approved : null,
    started_at_ms: number(raw, 'started_at_ms', path) ?? 0,
    ended_at_ms: number(raw, 'ended_at_ms', path) ?? 0,
  };
  return { call, turn: number(raw, 'turn', path) };
}

function subAgents(source: JsonObject): SubAgentRun[] {
  const value = source['sub_agents'] ?? [];
  if (!Array.isArray(value)) throw new Fault(['sub_agents'], 'expected a list');
  return value.map((raw, at) => {
    const path = ['sub_agents', String(at)];
    const calls = isJsonObject(raw) ? (raw['tool_calls'] ?? []) : null;
    if (!isJsonObject(raw) || !Array.isArray(calls))
      throw new Fault(path, 'expected {name, input, output, tool_calls}');
    return {
      name: text(raw, 'name', path) ?? '',
      input: text(raw, 'input', path) ?? '',
      output: text(raw, 'output', path),
      final_status: finalStatus(raw, 'COMPLETED', path),
      tool_calls: readCalls(calls, [...path, 'tool_calls']),
      usage: usage(raw, path),
      ...subAgentFacts(raw),
    };
  });
}

function unmatchedCalls(source: JsonObject): Trajectory['unmatched_calls'] {
  const value = source['unmatched_calls'] ?? [];
  if (!Array.isArray(value)) throw new Fault(['unmatched_calls'], 'expected a list of {index, tool}');
  return value.map((raw, at) => {
    const { index, tool } = isJsonObject(raw) ? raw : {};
    if (typeof index === 'number' && typeof tool === 'string') return { index, tool };
    throw new Fault(['unmatched_calls', String(at)], 'expected {index, tool}');
  });
}

/** undefined: the record says nothing of them. */
function promptSegments(source: JsonObject): Trajectory['prompt_segments'] {
  const value = source['prompt_segments'];
  if (value === undefined || value === null) return value;
  if (!Array.isArray(value)) throw new Fault(['prompt_segments'], 'expected a list of {name, text}');
  return value.map((raw, at) => {
    const { name, text } = isJsonObject(raw) ? raw : {};
    if (typeof name === 'string' && typeof text === 'string') return { name, text };
    throw new Fault(['prompt_segments', String(at)], 'expected {name, text}');
  });
}
