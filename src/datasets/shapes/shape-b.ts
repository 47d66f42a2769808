import { z } from 'zod';
import type { Json, JsonObject } from '../../core/json.ts';
import { isJsonObject } from '../../core/json.ts';
import { json, jsonObject, strictObject } from '../../core/strict-object.schema.ts';
import { COMMON_KEYS, copyCommon } from './common-keys.ts';
import type { Draft } from './draft.ts';

/**
 * Shape B: `{id, case, goal, mock: names, expect: {must_call, must_not_call, answer_contains, max_iterations, max_tokens,
 * final_status}}`. `case` is the situation, `goal` what must be achieved; the agent is given both. `expect` takes every key
 * of `expected`.
 */
export const shapeBSchema = strictObject({
  ...COMMON_KEYS,
  id: json,
  case: z.string().exactOptional(),
  goal: z.string().exactOptional(),
  mock: z
    .union([z.string(), z.array(z.string()), jsonObject])
    .nullable()
    .exactOptional(),
  expect: jsonObject.nullable().exactOptional(),
  context: json.exactOptional(),
}).refine((record) => record.case !== undefined || record.goal !== undefined, {
  error: 'missing: case (the situation) or goal (what must be achieved)',
});

export function draftFromShapeB(record: z.infer<typeof shapeBSchema>): Draft {
  const input = [record.case, record.goal].filter((part) => part !== undefined).join('\n\n');
  const origins: Draft['origins'] = [
    { path: ['input'], source: [record.case === undefined ? 'goal' : 'case'] },
    { path: ['expected'], source: ['expect'] },
    { path: ['mock', 'fixtures'], source: ['mock'] },
  ];
  const value: JsonObject = {
    ...copyCommon(record as JsonObject),
    id: record.id,
    input,
    expected: record.expect ?? {},
  };
  const mock = mockOf(record.mock ?? null);
  if (mock !== null) value['mock'] = mock;
  if (isJsonObject(record.mock)) origins.pop();
  if (record.context !== undefined) value['context'] = record.context;
  return { shape: 'B', value, origins };
}

/** Names of shared fixtures, as a list or as `a, b`; or the canonical object. */
function mockOf(mock: Json): Json {
  if (typeof mock === 'string') {
    const names = mock.split(',').map((name) => name.trim());
    return { fixtures: names.filter((name) => name !== '') };
  }
  return Array.isArray(mock) ? { fixtures: mock } : mock;
}
