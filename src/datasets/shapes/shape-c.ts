import { z } from 'zod';
import type { Json, JsonObject } from '../../core/json.ts';
import { isJsonObject } from '../../core/json.ts';
import { json, jsonObject, strictObject } from '../../core/strict-object.schema.ts';
import { COMMON_KEYS, copyCommon } from './common-keys.ts';
import type { Draft } from './draft.ts';
import { canariesOf, subAgentsOfBehavior } from './sub-agent-behavior.ts';

const SHAPE_C_DIMENSIONS = [
  'tool_selection',
  'prompt_assembly',
  'subagent_isolation',
  'rag_recall',
  'answer_completeness',
  'multi_turn_coherence',
] as const;

/** Shape C: a case of one of six dimensions; which fields it needs is in field-matrix.ts. */
export const shapeCSchema = strictObject({
  ...COMMON_KEYS,
  id: json,
  dimension: z.enum(SHAPE_C_DIMENSIONS),
  query: z.string(),
  context: strictObject({
    availableTools: z.array(json).nullable().exactOptional(),
    memorySnapshot: z.array(json).nullable().exactOptional(),
    ragDocuments: z.array(json).nullable().exactOptional(),
    promptSegments: z
      .union([z.array(json), jsonObject])
      .nullable()
      .exactOptional(),
    subAgentBehavior: z
      .union([z.array(json), jsonObject, z.string()])
      .nullable()
      .exactOptional(),
  })
    .nullable()
    .exactOptional(),
  expected: strictObject({
    tools: z.array(json).nullable().exactOptional(),
    answerCriteria: z
      .union([z.string(), z.array(z.string())])
      .nullable()
      .exactOptional(),
    docIds: z.array(z.string()).nullable().exactOptional(),
  })
    .nullable()
    .exactOptional(),
  mock: json.exactOptional(),
});

export type ShapeC = z.infer<typeof shapeCSchema>;

export function draftFromShapeC(record: ShapeC): Draft {
  const origins: Draft['origins'] = [{ path: ['input'], source: ['query'] }];
  const value: JsonObject = {
    ...copyCommon(record as JsonObject),
    id: record.id,
    input: record.query,
    expected: expectedOf(record, origins),
  };
  const { availableTools } = record.context ?? {};
  if (availableTools !== undefined && availableTools !== null) {
    value['tools'] = availableTools;
    origins.push({ path: ['tools'], source: ['context', 'availableTools'] });
  }
  const context = contextOf(record, origins);
  if (Object.keys(context).length > 0) value['context'] = context;
  if (record.mock !== undefined) value['mock'] = record.mock;
  return { shape: 'C', value, origins };
}

function expectedOf(record: ShapeC, origins: Draft['origins']): JsonObject {
  const expected: JsonObject = {};
  const { tools, answerCriteria, docIds } = record.expected ?? {};
  if (tools !== undefined && tools !== null) {
    expected['calls'] = tools.map(callOf);
    origins.push({ path: ['expected', 'calls'], source: ['expected', 'tools'] });
  }
  if (answerCriteria !== undefined && answerCriteria !== null && answerCriteria.length > 0) {
    expected['criteria'] = Array.isArray(answerCriteria) ? answerCriteria.join('\n') : answerCriteria;
    origins.push({ path: ['expected', 'criteria'], source: ['expected', 'answerCriteria'] });
  }
  if (docIds !== undefined && docIds !== null) {
    expected['doc_ids'] = docIds;
    origins.push({ path: ['expected', 'doc_ids'], source: ['expected', 'docIds'] });
  }
  const canaries = canariesOf(record.context?.subAgentBehavior ?? []);
  if (canaries.length > 0) {
    expected['canaries'] = canaries;
    origins.push({ path: ['expected', 'canaries'], source: ['context', 'subAgentBehavior'] });
  }
  return expected;
}

/** `"name"`, `{tool, args}` or `{toolName, expectedArgs}`; anything else is left for the canonical schema to refuse. */
function callOf(call: Json): Json {
  if (typeof call === 'string') return { tool: call, args: null };
  if (!isJsonObject(call)) return call;
  const { toolName, expectedArgs, ...rest } = call;
  const out: JsonObject = { ...rest };
  if (toolName !== undefined) out['tool'] = toolName;
  if (expectedArgs !== undefined) out['args'] = expectedArgs;
  if (out['args'] === undefined) out['args'] = null;
  return out;
}

function contextOf(record: ShapeC, origins: Draft['origins']): JsonObject {
  const { memorySnapshot, ragDocuments, promptSegments, subAgentBehavior } = record.context ?? {};
  const context: JsonObject = {};
  const put = (key: string, source: string, value: Json): void => {
    context[key] = value;
    origins.push({ path: ['context', key], source: ['context', source] });
  };
  if (memorySnapshot) put('memory', 'memorySnapshot', memorySnapshot.map(messageOf));
  if (ragDocuments) put('documents', 'ragDocuments', ragDocuments.map(documentOf));
  if (promptSegments) put('prompt_segments', 'promptSegments', segmentsOf(promptSegments));
  if (subAgentBehavior) put('sub_agents', 'subAgentBehavior', subAgentsOfBehavior(subAgentBehavior));
  return context;
}

/** `{role, content}`, or `"assistant: text"`; a text without a role is the user's. */
function messageOf(message: Json): Json {
  if (typeof message !== 'string') return message;
  const match = /^(system|user|assistant)\s*[:：]\s*/.exec(message);
  return { role: match?.[1] ?? 'user', content: match === null ? message : message.slice(match[0].length) };
}

/** `{id, text}`; `docId` and `content` are read too. */
function documentOf(document: Json): Json {
  if (!isJsonObject(document)) return document;
  const { docId, content, ...rest } = document;
  return {
    ...rest,
    ...(rest['id'] === undefined && docId !== undefined ? { id: docId } : {}),
    ...(rest['text'] === undefined && content !== undefined ? { text: content } : {}),
  };
}

/** A list of `{name, text}` (or `content`), or an object name → text in its order. */
function segmentsOf(segments: Json[] | JsonObject): Json {
  if (!Array.isArray(segments)) return Object.entries(segments).map(([name, text]) => ({ name, text: text ?? '' }));
  return segments.map((segment) => {
    if (!isJsonObject(segment)) return segment;
    const { content, ...rest } = segment;
    return rest['text'] === undefined && content !== undefined ? { ...rest, text: content } : rest;
  });
}
