import { z } from 'zod';
import type { JsonObject } from '../../core/json.ts';
import { json, jsonObject, strictObject } from '../../core/strict-object.schema.ts';
import { COMMON_KEYS, copyCommon } from './common-keys.ts';
import type { Draft } from './draft.ts';

/** Shape A: `{id, input, expectedTools: [{toolName, expectedArgs | null}], referenceAnswer, category, difficulty}`. */
export const shapeASchema = strictObject({
  ...COMMON_KEYS,
  id: json,
  input: z.string(),
  expectedTools: z
    .array(strictObject({ toolName: z.string(), expectedArgs: jsonObject.nullable().exactOptional() }))
    .nullable()
    .exactOptional(),
  referenceAnswer: z.string().nullable().exactOptional(),
  mock: json.exactOptional(),
  context: json.exactOptional(),
});

export function draftFromShapeA(record: z.infer<typeof shapeASchema>): Draft {
  const expected: JsonObject = {};
  const origins: Draft['origins'] = [];
  if (record.expectedTools !== undefined && record.expectedTools !== null) {
    expected['calls'] = record.expectedTools.map((call, i) => {
      origins.push({ path: ['expected', 'calls', i, 'tool'], source: ['expectedTools', i, 'toolName'] });
      origins.push({ path: ['expected', 'calls', i, 'args'], source: ['expectedTools', i, 'expectedArgs'] });
      return { tool: call.toolName, args: call.expectedArgs ?? null };
    });
    origins.push({ path: ['expected', 'calls'], source: ['expectedTools'] });
  }
  if (record.referenceAnswer !== undefined && record.referenceAnswer !== null) {
    expected['answer'] = record.referenceAnswer;
    origins.push({ path: ['expected', 'answer'], source: ['referenceAnswer'] });
  }
  const value: JsonObject = { ...copyCommon(record as JsonObject), id: record.id, input: record.input, expected };
  if (record.mock !== undefined) value['mock'] = record.mock;
  if (record.context !== undefined) value['context'] = record.context;
  return { shape: 'A', value, origins };
}
