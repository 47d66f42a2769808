import type { Json } from '../../core/json.ts';
import { parseJson } from '../../core/lossless-json.ts';
import type { RetrievalConfig } from '../../core/retrieval-config.ts';
import type { ToolCall, Trajectory } from '../../core/trajectory.ts';
import { ownValue } from '../values/equality.ts';
import { bignumText } from '../values/exact-number.ts';

/** What the agent retrieved, best first; or why that is not known. */
export type Retrieved = { known: true; ids: string[]; from: 'agent' | 'tool' } | { known: false; reason: string };

/**
 * Ids of retrieved documents: as the agent reports them; else, where the suite names the retrieval tool, from its results
 * in the order of the calls. A suite that names the tool says how documents come in: without a call of it nothing was
 * retrieved. Where calls answered and none of the answers has the path, nothing is known.
 */
export function retrievedDocuments(trajectory: Trajectory, retrieval: RetrievalConfig | undefined): Retrieved {
  if (trajectory.retrieved_doc_ids !== null) return { known: true, ids: trajectory.retrieved_doc_ids, from: 'agent' };
  const { tool, path } = retrieval ?? {};
  if (tool === undefined || path === undefined) {
    return { known: false, reason: 'the agent reported no retrieved documents, and the suite names no retrieval tool' };
  }
  const answers = trajectory.tool_calls.filter((call) => call.tool === tool && call.error === null && answered(call));
  const lists = answers.map((call) => idsAt(readable(call.result), path)).filter((ids) => ids !== null);
  if (answers.length > 0 && lists.length === 0) {
    return { known: false, reason: `no result of \`${tool}\` has \`${path}\`` };
  }
  return { known: true, ids: lists.flat(), from: 'tool' };
}

function answered(call: ToolCall): boolean {
  return call.malformed === null && call.result !== null;
}

/** Recorded messages hold results as text. */
function readable(result: Json): Json {
  if (typeof result !== 'string' || !/^\s*[[{]/.test(result)) return result;
  const parsed = parseJson(result);
  return parsed.ok ? parsed.value : result;
}

/**
 * Ids at a path such as `documents[].id`, `[].id` or `ids[]`: names separated by full stops, `[]` = every item of a list.
 * Numbers are ids too. Null when a name is missing, a `[]` finds no list, or an end is neither text nor number.
 */
function idsAt(root: Json, path: string): string[] | null {
  let values: Json[] = [root];
  for (const step of pathSteps(path)) {
    const next = values.map((value) => follow(value, step));
    if (next.includes(null)) return null;
    values = next.flatMap((list) => list ?? []);
  }
  const ids = values.map(idOf);
  return ids.includes(null) ? null : ids.filter((id) => id !== null);
}

function idOf(value: Json): string | null {
  if (typeof value === 'string' || typeof value === 'number') return String(value);
  return value === null || typeof value !== 'object' ? null : bignumText(value);
}

function pathSteps(path: string): string[] {
  return path
    .replace(/^\$\.?/, '')
    .split(/\.|(?=\[\])/)
    .filter((step) => step !== '');
}

function follow(value: Json, step: string): Json[] | null {
  if (step === '[]') return Array.isArray(value) ? value : null;
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return null;
  const found = ownValue(value, step);
  return found === undefined ? null : [found];
}
