import type { Json, JsonObject } from '../../core/json.ts';
import { isJsonObject } from '../../core/json.ts';
import { fixtureFromSugar } from './fixture-sugar.ts';

const LIST_KEYS = [
  'steps',
  'must_call',
  'must_not_call',
  'answer_contains',
  'answer_not_contains',
  'answer_matches',
  'doc_ids',
  'plan',
  'canaries',
  'approvals',
];

/**
 * Short forms of the canonical case, written out: one text where a list is meant, `number: 5`, a call without `args`,
 * `timeout: 30s`, a mock fixture with one `result`. What is not understood is left as it is, for the schema to refuse.
 */
export function writeOutCase(record: JsonObject): JsonObject {
  const value: JsonObject = { ...record, id: idOf(record['id']) };
  value['expected'] = isJsonObject(record['expected'])
    ? writeOutExpected(record['expected'])
    : (record['expected'] ?? {});
  if (typeof value['tags'] === 'string') value['tags'] = [value['tags']];
  if (value['timeout'] !== undefined) {
    const ms = durationMs(value['timeout']);
    if (ms !== null && value['timeout_ms'] === undefined) {
      value['timeout_ms'] = ms;
      delete value['timeout'];
    }
  }
  if (Array.isArray(value['tools'])) value['tools'] = value['tools'].map(toolFromSugar);
  if (isJsonObject(value['mock'])) value['mock'] = writeOutMock(value['mock']);
  return value;
}

/** Whole numbers are ids too: `7` is `"7"`. */
function idOf(id: Json | undefined): Json {
  return typeof id === 'number' && Number.isSafeInteger(id) ? String(id) : (id ?? null);
}

function writeOutExpected(expected: JsonObject): JsonObject {
  const value: JsonObject = { ...expected };
  for (const key of LIST_KEYS) if (typeof value[key] === 'string') value[key] = [value[key]];
  if (typeof value['number'] === 'number') value['number'] = { value: value['number'] };
  if (Array.isArray(value['criteria']) && value['criteria'].every((rule) => typeof rule === 'string')) {
    value['criteria'] = value['criteria'].join('\n');
  }
  if (Array.isArray(value['calls'])) value['calls'] = value['calls'].map(callFromSugar);
  if (Array.isArray(value['any_of'])) {
    value['any_of'] = value['any_of'].map((alternative) =>
      isJsonObject(alternative) && Array.isArray(alternative['calls'])
        ? { ...alternative, calls: alternative['calls'].map(callFromSugar) }
        : alternative,
    );
  }
  return value;
}

/** `name` is a call whose arguments are not checked, and so is `{tool: name}`. */
function callFromSugar(call: Json): Json {
  if (typeof call === 'string') return { tool: call, args: null };
  return isJsonObject(call) && call['args'] === undefined ? { ...call, args: null } : call;
}

/** A tool as the OpenAI API writes it, `{type: function, function: {…}}`, is its function. */
export function toolFromSugar(tool: Json): Json {
  if (!isJsonObject(tool) || tool['type'] !== 'function' || !isJsonObject(tool['function'])) return tool;
  return tool['function'];
}

function writeOutMock(mock: JsonObject): JsonObject {
  const value: JsonObject = { ...mock };
  if (typeof value['fixtures'] === 'string') value['fixtures'] = [value['fixtures']];
  if (Array.isArray(value['tools'])) value['tools'] = value['tools'].map(fixtureFromSugar);
  return value;
}

/** Milliseconds of `500ms`, `30s`, `2m`; null when the value is none of these. */
function durationMs(value: Json): number | null {
  const match = typeof value === 'string' ? /^(\d+(?:\.\d+)?)\s*(ms|s|m)$/.exec(value.trim()) : null;
  if (match === null) return null;
  const unit = { ms: 1, s: 1_000, m: 60_000 }[match[2] ?? ''] ?? Number.NaN;
  return Math.round(Number(match[1]) * unit);
}
