import type { JsonObject } from '../../core/json.ts';
import { json } from '../../core/strict-object.schema.ts';

/** Keys every shape may carry beside its own; the canonical schema checks them. */
export const COMMON_KEYS = {
  category: json.exactOptional(),
  difficulty: json.exactOptional(),
  dimension: json.exactOptional(),
  tags: json.exactOptional(),
  tools: json.exactOptional(),
  role: json.exactOptional(),
  rubric: json.exactOptional(),
  min_steps: json.exactOptional(),
  trials: json.exactOptional(),
  timeout: json.exactOptional(),
  timeout_ms: json.exactOptional(),
  metadata: json.exactOptional(),
};

/** The common keys of a record; a null one is left out. */
export function copyCommon(record: JsonObject): JsonObject {
  const out: JsonObject = {};
  for (const key of Object.keys(COMMON_KEYS)) {
    const value = record[key];
    if (value !== undefined && value !== null) out[key] = value;
  }
  return out;
}
