import { isJsonObject, type Json } from '../../core/json.ts';
import { FINAL_STATUSES, type FinalStatus, type SubAgentRun, type Usage } from '../../core/trajectory.ts';
import type { ReadCall } from '../openai/read-tool-call.ts';
import { readAgentCall, readReportedCall, type ReportedCall } from './reported-call.ts';
import { readSubAgents } from './reported-sub-agents.ts';
import { readReportedUsage } from './reported-usage.ts';

/** The parts of an agent's report, as it sent them; what it did not send is undefined. */
export type ReportParts = Partial<
  Record<
    | 'answer'
    | 'final_status'
    | 'tool_calls'
    | 'pending_calls'
    | 'usage'
    | 'retrieved_doc_ids'
    | 'sub_agents'
    | 'plan'
    | 'model',
    Json | undefined
  >
>;

/** What an agent outside this process says of a turn. */
export interface AgentReport {
  answer: string | null;
  finalStatus: FinalStatus | null;
  toolCalls: ReportedCall[];
  /** Calls it wants answered; with any, its turn goes on. */
  pendingCalls: ReadCall[];
  usage: Usage;
  retrievedDocIds: string[] | null;
  subAgents: SubAgentRun[];
  plan: string[] | null;
  model: string | null;
}

export type ReadReport = { ok: true; report: AgentReport } | { ok: false; error: string };

/**
 * Reads what an agent reports. Values of the wrong kind are an error that names the part: taking them for nothing would
 * score the agent on what it did not say.
 * @param statuses the agent's own words for final statuses; Assay's own are known in any case of letters
 * @param hint where the answer was looked for, said when there is neither answer nor call
 */
export function readReport(parts: ReportParts, statuses: Record<string, string>, hint: string): ReadReport {
  try {
    const report = read(parts, statuses);
    const said = report.answer !== null && report.answer.trim() !== '';
    const acted = report.pendingCalls.length + report.toolCalls.length + report.subAgents.length > 0;
    if (said || acted || report.finalStatus !== null) return { ok: true, report };
    const what = parts.answer === undefined ? `no answer: ${hint}` : 'empty reply: neither an answer nor a tool call';
    return { ok: false, error: what };
  } catch (error) {
    if (error instanceof ReportFault) return { ok: false, error: error.message };
    throw error;
  }
}

class ReportFault extends Error {}

function read(parts: ReportParts, statuses: Record<string, string>): AgentReport {
  return {
    answer: textOf(parts.answer),
    finalStatus: statusOf(parts.final_status, statuses),
    toolCalls: listOf(parts.tool_calls, 'tool_calls').map(readReportedCall),
    pendingCalls: listOf(parts.pending_calls, 'pending_calls').map(readAgentCall),
    usage: readReportedUsage(parts.usage),
    retrievedDocIds: textsOf(parts.retrieved_doc_ids, 'retrieved_doc_ids'),
    subAgents: subAgentsOf(parts.sub_agents),
    plan: textsOf(parts.plan, 'plan'),
    model: typeof parts.model === 'string' && parts.model !== '' ? parts.model : null,
  };
}

/** A text as it is, the text parts of a list joined, anything else as JSON. */
function textOf(value: Json | undefined): string | null {
  if (value === undefined || value === null) return null;
  if (typeof value === 'string') return value;
  if (Array.isArray(value) && value.length > 0) {
    const texts = value.map((part) => (isJsonObject(part) ? part['text'] : undefined));
    if (texts.every((text) => typeof text === 'string')) return texts.join('');
  }
  return JSON.stringify(value);
}

function statusOf(value: Json | undefined, statuses: Record<string, string>): FinalStatus | null {
  if (value === undefined || value === null) return null;
  const word = typeof value === 'string' ? value : JSON.stringify(value);
  const named = Object.hasOwn(statuses, word) ? statuses[word] : word.toUpperCase();
  const known = FINAL_STATUSES.find((status) => status === named);
  if (known !== undefined) return known;
  throw new ReportFault(
    `final_status is ${JSON.stringify(value).slice(0, 100)}; expected one of ${FINAL_STATUSES.join(', ')}`,
  );
}

/** One call that is no list is a list of one: it is read, and malformed if it is none. */
function listOf(value: Json | undefined, part: string): Json[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value;
  if (isJsonObject(value)) return [value];
  throw new ReportFault(`${part} is ${JSON.stringify(value).slice(0, 100)}; expected a list of calls`);
}

function subAgentsOf(value: Json | undefined): SubAgentRun[] {
  if (value === undefined || value === null) return [];
  const runs = readSubAgents(value);
  if (runs !== null) return runs;
  throw new ReportFault('sub_agents: expected a list of {name, input, output, tool_calls, …}');
}

/** Texts; documents may be objects with an `id`. */
function textsOf(value: Json | undefined, part: string): string[] | null {
  if (value === undefined || value === null) return null;
  const items = Array.isArray(value) ? value.map((item) => (isJsonObject(item) ? (item['id'] ?? null) : item)) : null;
  if (items !== null && items.every((item) => typeof item === 'string')) return items;
  throw new ReportFault(`${part} is ${JSON.stringify(value).slice(0, 100)}; expected a list of texts`);
}
