import { isJsonObject, type Json } from '../../core/json.ts';
import {
  FINAL_STATUSES,
  type FinalStatus,
  type PromptSegment,
  type SubAgentRun,
  type Usage,
} from '../../core/trajectory.ts';
import { readSubAgents } from '../report/reported-sub-agents.ts';
import { readReportedUsage } from '../report/reported-usage.ts';

/** What a module returned, checked. */
interface ModuleAnswer {
  answer: string | null;
  /** Null when the module names none. */
  finalStatus: FinalStatus | null;
  plan: string[] | null;
  retrievedDocIds: string[] | null;
  /** Tokens of model calls the module made on its own; null when it names none. */
  usage: Usage | null;
  /** Sub-agents it dispatched on its own; [] when it reports none. */
  subAgents: SubAgentRun[];
  /** Null when it reports none. */
  promptSegments: PromptSegment[] | null;
}

export type ParsedAnswer = { ok: true; value: ModuleAnswer } | { ok: false; error: string };

const KEYS = ['answer', 'finalStatus', 'plan', 'retrievedDocIds', 'usage', 'subAgents', 'promptSegments'];

/** Reads the return value of a module: a text, or an {@link AgentAnswer}. */
export function readModuleAnswer(value: Json): ParsedAnswer {
  if (typeof value === 'string') return ok(value, {});
  if (!isJsonObject(value)) return bad(`expected a text or {answer, …}, the module returned ${describe(value)}`);
  const unknown = Object.keys(value).find((key) => !KEYS.includes(key));
  if (unknown !== undefined) return bad(`unknown key ${JSON.stringify(unknown)}; expected ${KEYS.join(', ')}`);
  const { answer = null, finalStatus = null, plan = null, retrievedDocIds = null } = value;
  if (answer !== null && typeof answer !== 'string')
    return bad(`answer is ${describe(answer)}, expected a text or null`);
  if (finalStatus !== null && !isFinalStatus(finalStatus)) {
    return bad(`finalStatus is ${describe(finalStatus)}, expected one of ${FINAL_STATUSES.join(', ')}`);
  }
  if (plan !== null && !isTextList(plan)) return bad(`plan is ${describe(plan)}, expected a list of texts`);
  if (retrievedDocIds !== null && !isTextList(retrievedDocIds)) {
    return bad(`retrievedDocIds is ${describe(retrievedDocIds)}, expected a list of ids`);
  }
  const subAgents = readSubAgents(value['subAgents'] ?? []);
  if (subAgents === null) return bad('subAgents is no list of {name, input, output, tool_calls, …}');
  const { promptSegments = null } = value;
  if (promptSegments !== null && !isSegmentList(promptSegments)) {
    return bad('promptSegments is no list of {name, text}');
  }
  return ok(answer, {
    finalStatus,
    plan,
    retrievedDocIds,
    usage: isJsonObject(value['usage']) ? readReportedUsage(value['usage']) : null,
    subAgents,
    promptSegments,
  });
}

const NOTHING = {
  finalStatus: null,
  plan: null,
  retrievedDocIds: null,
  usage: null,
  subAgents: [],
  promptSegments: null,
};

function ok(answer: string | null, rest: Partial<ModuleAnswer>): ParsedAnswer {
  return { ok: true, value: { answer, ...NOTHING, ...rest } };
}

function bad(error: string): ParsedAnswer {
  return { ok: false, error };
}

function isFinalStatus(value: Json): value is FinalStatus {
  return FINAL_STATUSES.some((status) => status === value);
}

function isTextList(value: Json): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

function isSegmentList(value: Json): value is Json & PromptSegment[] {
  return (
    Array.isArray(value) &&
    value.every((item) => isJsonObject(item) && typeof item['name'] === 'string' && typeof item['text'] === 'string')
  );
}

function describe(value: Json): string {
  return value === null ? 'nothing (undefined or null)' : JSON.stringify(value).slice(0, 100);
}
