import { isJsonObject } from '../../core/json.ts';
import type { Json, JsonObject } from '../../core/json.ts';
import type { SubAgentRun } from '../../core/trajectory.ts';

type Kind = (value: Json) => boolean;

const isText: Kind = (value) => typeof value === 'string';
const isNumber: Kind = (value) => typeof value === 'number';
const isTexts: Kind = (value) => Array.isArray(value) && value.every(isText);
const orNull =
  (kind: Kind): Kind =>
  (value) =>
    value === null || kind(value);

/** The facts of a run that a record may leave out, and what each must be to be taken. */
const FACTS: Record<string, Kind> = {
  id: isText,
  parent: orNull(isText),
  dispatch_call_index: orNull(isNumber),
  messages: (value) => Array.isArray(value) && value.every(isJsonObject),
  allowed_tools: orNull(isTexts),
  passed_context: isTexts,
  timeout_ms: orNull(isNumber),
  timed_out: (value) => typeof value === 'boolean',
  blocked: orNull(isText),
  initial_state: orNull(isJsonObject),
  end_state: orNull(isJsonObject),
  started_at_ms: isNumber,
  ended_at_ms: isNumber,
};

/** What a recorded run says beyond its conversation; a fact of the wrong kind is not known. */
export function subAgentFacts(raw: JsonObject): Partial<SubAgentRun> {
  const known = Object.entries(FACTS).filter(([key, kind]) => {
    const value = raw[key];
    return value !== undefined && kind(value);
  });
  return Object.fromEntries(known.map(([key]) => [key, raw[key]])) as Partial<SubAgentRun>;
}
