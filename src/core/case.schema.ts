import { z } from 'zod';
import { a2aToolSchema } from './a2a-config.schema.ts';
import type {
  CaseContext,
  CaseMock,
  ChatMessage,
  EvalCase,
  Expected,
  MockFixture,
  SubAgentDefinition,
  ToolDefinition,
} from './case.ts';
import { json, jsonObject, optionalUnion, strictObject } from './strict-object.schema.ts';
import { FINAL_STATUSES } from './trajectory.ts';

/** Longest case id, in UTF-16 code units. Ids are data: any characters, never used as paths. */
const MAX_ID_LENGTH = 300;

const MATCH_MODES = ['strict', 'unordered', 'superset', 'subset', 'in_order', 'first'] as const;
const ARGS_MODES = ['exact', 'ignore', 'subset', 'superset'] as const;
const DIFFICULTIES = ['EASY', 'MEDIUM', 'HARD'] as const;

const text = z.string().min(1, { error: 'must not be empty' });
const texts = z.array(z.string());
const names = z.array(text);
const count = z.int().min(0);
const positive = z.int().min(1);
/** Repetitions of a case: far above what statistics gain from, far below what a plan cannot hold. */
export const MOST_TRIALS = 10_000;

const chatMessageSchema: z.ZodType<ChatMessage> = strictObject({
  role: z.enum(['system', 'developer', 'user', 'assistant', 'tool']),
  content: z.string().nullable(),
  tool_calls: z.array(json).exactOptional(),
  tool_call_id: z.string().exactOptional(),
  name: z.string().exactOptional(),
});

export const toolDefinitionSchema: z.ZodType<ToolDefinition> = strictObject({
  name: text,
  description: z.string().exactOptional(),
  parameters: jsonObject.exactOptional(),
  a2a: a2aToolSchema.exactOptional(),
});

const argsMode = z.union([z.enum(ARGS_MODES), z.record(z.string(), z.enum(ARGS_MODES))]);

const expectedCall = strictObject({ tool: text, args: jsonObject.nullable() });

const pathCheck = strictObject({ path: text, value: json });

const alternative = strictObject({
  name: z.string().exactOptional(),
  calls: z.array(expectedCall),
  match: z.enum(MATCH_MODES).exactOptional(),
  args: optionalUnion(argsMode),
});

const injection = strictObject({
  name: text.exactOptional(),
  tool: text.exactOptional(),
  args: jsonObject.exactOptional(),
  text: text.exactOptional(),
})
  .refine(({ tool, text }) => tool !== undefined || text !== undefined, { error: 'expected tool, text or both' })
  .refine(({ tool, args }) => args === undefined || tool !== undefined, { error: 'args are of a tool: name it' });

const expectedSegment = strictObject({
  name: text,
  empty: z.boolean().exactOptional(),
  contains: names.exactOptional(),
});

const expectedSchema: z.ZodType<Expected> = strictObject({
  calls: z.array(expectedCall).exactOptional(),
  any_of: z.array(alternative).min(1).exactOptional(),
  match: z.enum(MATCH_MODES).exactOptional(),
  args: optionalUnion(argsMode),
  steps: names.exactOptional(),
  answer: z.string().exactOptional(),
  criteria: z.string().exactOptional(),
  must_call: names.exactOptional(),
  must_not_call: names.exactOptional(),
  answer_contains: names.exactOptional(),
  answer_not_contains: names.exactOptional(),
  answer_matches: names.exactOptional(),
  answer_equals: z.string().exactOptional(),
  answer_json: strictObject({
    schema: jsonObject.exactOptional(),
    equals: z.array(pathCheck).exactOptional(),
  }).exactOptional(),
  number: strictObject({ value: z.number(), tolerance: z.number().min(0).exactOptional() }).exactOptional(),
  ignore_case: z.boolean().exactOptional(),
  final_status: z.enum(FINAL_STATUSES).exactOptional(),
  state: z.array(pathCheck).exactOptional(),
  max_iterations: count.exactOptional(),
  max_tokens: count.exactOptional(),
  max_tool_calls: count.exactOptional(),
  max_latency_ms: count.exactOptional(),
  max_cost: z.number().min(0).exactOptional(),
  doc_ids: z.array(z.union([text, strictObject({ id: text, grade: z.number().min(0) })])).exactOptional(),
  plan: texts.exactOptional(),
  canaries: names.exactOptional(),
  injection: optionalUnion(z.union([injection, z.array(injection).min(1)])),
  prompt_segments: z
    .array(z.union([text, expectedSegment]))
    .min(1)
    .exactOptional(),
  approvals: names.exactOptional(),
  calls_per_tool: z
    .record(z.string(), strictObject({ min: count.exactOptional(), max: count.exactOptional() }))
    .exactOptional(),
});

export const subAgentSchema: z.ZodType<SubAgentDefinition> = strictObject({
  name: text,
  description: z.string().exactOptional(),
  system_prompt: z.string().exactOptional(),
  model: text.exactOptional(),
  tools: names.exactOptional(),
  sub_agents: names.exactOptional(),
  timeout_ms: positive.exactOptional(),
  max_dispatches: count.exactOptional(),
  max_iterations: positive.exactOptional(),
  behavior: z.string().exactOptional(),
  mock: strictObject({
    calls: z.array(strictObject({ tool: text, args: jsonObject.exactOptional() })).exactOptional(),
    result: z.string().exactOptional(),
    fail: text.exactOptional(),
    delay_ms: count.exactOptional(),
  }).exactOptional(),
});

const contextSchema: z.ZodType<CaseContext> = strictObject({
  memory: z.array(chatMessageSchema).exactOptional(),
  documents: z.array(strictObject({ id: text, text: z.string(), title: z.string().exactOptional() })).exactOptional(),
  prompt_segments: z.array(strictObject({ name: text, text: z.string() })).exactOptional(),
  sub_agents: z.array(z.union([text, subAgentSchema])).exactOptional(),
});

const failure = z.discriminatedUnion('kind', [
  strictObject({ kind: z.literal('timeout'), after_ms: count.exactOptional() }),
  strictObject({ kind: z.literal('http_500'), message: z.string().exactOptional() }),
  strictObject({ kind: z.literal('not_found'), message: z.string().exactOptional() }),
  strictObject({ kind: z.literal('rate_limit'), message: z.string().exactOptional() }),
  strictObject({ kind: z.literal('malformed'), text: z.string().exactOptional() }),
  strictObject({ kind: z.literal('truncated'), chars: count.exactOptional() }),
]);

export const mockFixtureSchema: z.ZodType<MockFixture> = strictObject(
  {
    tool: text,
    args: jsonObject.exactOptional(),
    match: z.enum(['exact', 'subset', 'any']).exactOptional(),
    when: jsonObject.exactOptional(),
    replies: z
      .array(
        strictObject({
          result: json.exactOptional(),
          fail: failure.exactOptional(),
          delay_ms: count.exactOptional(),
          set_state: jsonObject.exactOptional(),
        }),
      )
      .min(1, { error: 'expected a reply: `result` or `fail`, or `replies` with several of them' }),
  },
  {},
  // Short for one reply (datasets/shapes/fixture-sugar.ts).
  ['result', 'fail', 'delay_ms', 'set_state'],
);

const mockSchema: z.ZodType<CaseMock> = strictObject({
  fixtures: names.exactOptional(),
  tools: z.array(mockFixtureSchema).exactOptional(),
  state: jsonObject.exactOptional(),
  unmatched: z.enum(['error', 'empty']).exactOptional(),
});

/**
 * The canonical case. Strict: an unknown key is an error. Nothing is coerced; JSON inside arguments, results and metadata
 * is passed through untouched. Defaults: `expected` is `{}`.
 */
export const caseSchema: z.ZodType<EvalCase> = strictObject({
  id: text.max(MAX_ID_LENGTH, { error: `an id has at most ${MAX_ID_LENGTH} characters` }),
  input: z.string().exactOptional(),
  messages: z.array(chatMessageSchema).min(1).exactOptional(),
  turns: z.array(z.string()).min(1).exactOptional(),
  tools: z.array(z.union([text, toolDefinitionSchema])).exactOptional(),
  expected: expectedSchema,
  context: contextSchema.exactOptional(),
  mock: mockSchema.exactOptional(),
  role: text.exactOptional(),
  rubric: z.string().exactOptional(),
  min_steps: count.exactOptional(),
  category: text.exactOptional(),
  difficulty: z.enum(DIFFICULTIES).exactOptional(),
  dimension: text.exactOptional(),
  tags: names.exactOptional(),
  trials: positive.max(MOST_TRIALS).exactOptional(),
  timeout_ms: positive.exactOptional(),
  metadata: jsonObject.exactOptional(),
});
