import { RE2JS, RE2JSSyntaxException } from 're2js';
import { z } from 'zod';
import type { JsonObject, Json } from '../core/json.ts';
import { DEFAULT_RULE } from './script.ts';
import type { Reply, Rule, Script, ScriptedToolCall, When } from './script.ts';

/** Drops keys that are undefined, so that absent and undefined are one. */
function compact<T extends object>(value: { [K in keyof T]: T[K] | undefined }): T {
  return Object.fromEntries(Object.entries(value).filter(([, part]) => part !== undefined)) as T;
}

const json: z.ZodType<Json> = z.json() as z.ZodType<Json>;
const jsonObject: z.ZodType<JsonObject> = z.record(z.string(), json);
const milliseconds = z.number().min(0).max(3_600_000);
const count = z.int().min(0);
const texts = z.union([z.string().transform((text) => [text]), z.array(z.string()).min(1)], {
  error: 'expected a text or a list of texts (numbers and words like yes need quotes)',
});

const regex = z.string().transform((source, context) => {
  try {
    return RE2JS.compile(source);
  } catch (error) {
    if (!(error instanceof RE2JSSyntaxException)) throw error;
    context.addIssue({
      code: 'custom',
      message: `not a regular expression of RE2 syntax (no lookaround, no backreferences): ${error.message}`,
    });
    return z.NEVER;
  }
});

const when = z
  .strictObject({
    model: z.string().optional(),
    user_contains: texts.optional(),
    user_matches: regex.optional(),
    system_contains: texts.optional(),
    contains: texts.optional(),
    after_tool: z.string().optional(),
    last_tool_contains: texts.optional(),
    has_tool: z.string().optional(),
    no_tools: z.boolean().optional(),
    turn: count.optional(),
    seed: z
      .union([z.int().transform((seed) => [seed]), z.array(z.int()).min(1)], {
        error: 'expected a whole number or a list of them',
      })
      .optional(),
  })
  .transform((value): When => compact<When>(value));

const toolCall = z
  .strictObject({
    name: z.string().optional(),
    arguments: jsonObject.optional(),
    raw_arguments: z.string().optional(),
    id: z.string().optional(),
    raw: json.optional(),
  })
  .refine((call) => call.name !== undefined || call.raw !== undefined, {
    error: 'a tool call needs a name (or raw, to send something malformed)',
  })
  .refine((call) => call.arguments === undefined || call.raw_arguments === undefined, {
    error: 'give arguments or raw_arguments, not both',
  })
  .transform((value): ScriptedToolCall => compact<ScriptedToolCall>(value));

const usage = z
  .strictObject({
    input: count.optional(),
    output: count.optional(),
    cached: count.optional(),
    reasoning: count.optional(),
  })
  .transform((value) => compact<NonNullable<Reply['usage']>>(value));

const errorBody = z
  .strictObject({ code: z.string().nullable().optional(), type: z.string().optional(), message: z.string().optional() })
  .transform((value) => compact<NonNullable<Reply['error']>>(value));

/** At least one of these makes a reply. */
const SAYS = ['content', 'json', 'tool_calls', 'refusal', 'status', 'error', 'body', 'hang', 'drop'] as const;

const reply = z
  .strictObject({
    content: z.string().nullable().optional(),
    json: jsonObject.optional(),
    tool_calls: z.array(toolCall).min(1).optional(),
    refusal: z.string().optional(),
    finish_reason: z.string().optional(),
    usage: usage.nullable().optional(),
    model: z.string().optional(),
    delay_ms: milliseconds.optional(),
    first_token_delay_ms: milliseconds.optional(),
    status: z.int().min(200).max(599).optional(),
    headers: z.record(z.string(), z.string({ error: 'expected a text: header values need quotes' })).optional(),
    error: errorBody.optional(),
    body: z.string().optional(),
    content_type: z.string().optional(),
    hang: z.boolean().optional(),
    drop: z.enum(['before', 'mid']).optional(),
    stall_after: count.optional(),
  })
  .refine((value) => SAYS.some((key) => value[key] !== undefined), {
    error: `a reply needs one of ${SAYS.join(', ')}`,
  })
  .refine((value) => value.content === undefined || value.json === undefined, {
    error: 'give content or json, not both',
  })
  .transform((value): Reply => compact<Reply>(value));

const answered = { reply: reply.optional(), replies: z.array(reply).min(1).optional() };
/** Told beside what is wrong inside the rule, not only once that is mended. */
const ONE_OF = {
  error: 'give exactly one of reply and replies',
  when: ({ value }: { value: unknown }): boolean => typeof value === 'object' && value !== null,
};

const rule = z
  .strictObject({
    name: z.string().min(1).optional(),
    when: when.optional(),
    allow_repeat: z.boolean().optional(),
    ...answered,
  })
  .refine((value) => (value.reply === undefined) !== (value.replies === undefined), ONE_OF);

const fallback = z
  .strictObject({ ...answered, allow_repeat: z.boolean().optional() })
  .refine((value) => (value.reply === undefined) !== (value.replies === undefined), ONE_OF);

/** The file format of docs/scripted-model.md. */
export const scriptSchema = z.strictObject({
  model: z.string().min(1).default('scripted-1'),
  delay_ms: milliseconds.default(0),
  rules: z.array(rule).default([]),
  default: fallback.optional(),
});

/** The checked content of a file as a script. */
export function toScript(content: z.infer<typeof scriptSchema>, file: string | null): Script {
  const rules = content.rules.map((one, index): Rule => ({
    name: one.name ?? `rule-${index + 1}`,
    when: one.when ?? {},
    replies: one.replies ?? (one.reply === undefined ? [] : [one.reply]),
    allow_repeat: one.allow_repeat ?? false,
  }));
  const last = content.default;
  return {
    file,
    model: content.model,
    delay_ms: content.delay_ms,
    rules,
    fallback:
      last === undefined
        ? null
        : {
            name: DEFAULT_RULE,
            when: {},
            replies: last.replies ?? (last.reply === undefined ? [] : [last.reply]),
            allow_repeat: last.allow_repeat ?? false,
          },
  };
}
