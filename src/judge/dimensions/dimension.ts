import type { EvalCase } from '../../core/case.ts';
import type { JsonObject } from '../../core/json.ts';
import type { Trajectory } from '../../core/trajectory.ts';
import type { Fields } from '../fields.ts';
import type { VerdictFlag } from '../verdict.ts';

/** What a valid reply means: always decided here from its fields, never by the judge's own sum or pass. */
export interface Reading {
  /** In [0,1]. */
  value: number;
  passed: boolean;
  /** The judge's reason; null when it gave none. */
  reason: string | null;
  /** The fields that count, as numbers and words. */
  parsed: JsonObject;
  flags: VerdictFlag[];
}

interface JudgeSubject {
  evalCase: EvalCase;
  trajectory: Trajectory;
}

/**
 * One dimension a judge can score. Its prompt is `prompts/<language>/<name>.txt`.
 * A new dimension = one object of this type in a file of its own, two prompt files, one line in dimensions.ts.
 */
export interface DimensionSpec {
  name: string;
  /** Variables the prompt may use; `required` ones it must. */
  variables: { name: string; required: boolean }[];
  /** The content of each variable; null = there is none. All of it is wrapped as data. */
  content(subject: JudgeSubject): Record<string, string | null>;
  /** JSON Schema of the reply, sent when `response_format` is json_schema. */
  replySchema: JsonObject;
  /** Reads the fields that count. @throws FieldError when one is missing or out of range */
  read(fields: Fields): Reading;
}

/** A closed object schema, as strict structured output asks for: every property required, no others. */
export function closedObject(properties: Record<string, JsonObject>): JsonObject {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false };
}

const UNIT: JsonObject = { type: 'number', minimum: 0, maximum: 1 };
const TEXT: JsonObject = { type: 'string' };

export const REPLY_PART = { unit: UNIT, text: TEXT } as const;
