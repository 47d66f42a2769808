import type { EvalCase, SubAgentDefinition } from '../../core/case.ts';
import type { JsonObject } from '../../core/json.ts';
import type { JudgeDimension } from '../../core/suite.ts';
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

/** What is judged. */
export interface JudgeSubject {
  evalCase: EvalCase;
  trajectory: Trajectory;
  /** The suite's sub-agents. */
  subAgents: readonly SubAgentDefinition[];
}

/** A variable a prompt of the dimension may use. */
export interface PromptVariable {
  name: string;
  /** A prompt without it is refused. */
  required: boolean;
  /** True when the system under test wrote of it: a reply whose object stands in it is a copy, no verdict. */
  fromAgent: boolean;
}

/**
 * One dimension a judge can score. Its prompt is `prompts/<language>/<name>.txt`.
 * A new dimension = one object of this type in a file of its own, two prompt files, one line in dimensions.ts, its name in
 * core/suite.ts and what it needs in core/judged-dimensions.ts.
 */
export interface DimensionSpec {
  name: JudgeDimension;
  /** What the judge gives: a word, 0 or 1, a whole number from 1 to 5, or numbers in 0..1. */
  scale: 'words' | 'binary' | 'likert' | 'unit';
  /** Smallest value that passes, in [0,1]; also of an average over votes. */
  passesAt: number;
  variables: PromptVariable[];
  /** The content of each variable; null = there is none. All of it is wrapped as data. */
  content(subject: JudgeSubject): Record<string, string | null>;
  /** Why this trajectory gives nothing to judge, as a clause: what it does not record. The judge is not asked then. Null = it does. */
  notRecorded?(subject: JudgeSubject): string | null;
  /** JSON Schema of the reply, sent when `response_format` is json_schema. */
  replySchema: JsonObject;
  /** Reads the fields that count. @throws FieldError when one is missing or out of range */
  read(fields: Fields): Reading;
}

/** Variables by name: required ones, optional ones, and which of them the system under test wrote of. */
export function promptVariables(lists: {
  required: string[];
  optional: string[];
  fromAgent: string[];
}): PromptVariable[] {
  const written = new Set(lists.fromAgent);
  const all = [
    ...lists.required.map((name) => ({ name, required: true })),
    ...lists.optional.map((name) => ({ name, required: false })),
  ];
  return all.map((variable) => ({ ...variable, fromAgent: written.has(variable.name) }));
}

/** A closed object schema, as strict structured output asks for: every property required, no others. */
export function closedObject(properties: Record<string, JsonObject>): JsonObject {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false };
}

const UNIT: JsonObject = { type: 'number', minimum: 0, maximum: 1 };
const BINARY: JsonObject = { type: 'integer', enum: [0, 1] };
const LIKERT: JsonObject = { type: 'integer', minimum: 1, maximum: 5 };
const TEXT: JsonObject = { type: 'string' };
const TEXT_OR_NULL: JsonObject = { type: ['string', 'null'] };

export const REPLY_PART = { unit: UNIT, binary: BINARY, likert: LIKERT, text: TEXT, textOrNull: TEXT_OR_NULL } as const;
