import { z } from 'zod';
import { json, jsonObject, strictObject } from './strict-object.schema.ts';
import { FINAL_STATUSES } from './trajectory.ts';

const text = z.string().min(1, { error: 'must not be empty' });
const positive = z.int().min(1);
const envName = text.regex(/^[A-Za-z_][A-Za-z0-9_]*$/, {
  error: 'expected the name of an environment variable, never the key itself',
});
const pointer = z.string().regex(/^(?:\/(?:[^~]|~[01])*)?$/, {
  error: 'expected a JSON pointer such as /choices/0/message/content ("" is the whole reply)',
});
const url = text
  .regex(/^https?:\/\//, { error: 'expected an address that starts with http:// or https://' })
  .regex(/^(?!https?:\/\/[^/?#]*@)/, {
    error: 'expected an address without user name and password; name the variable of the secret in auth_env',
  });
const KEYS_ELSEWHERE =
  'keys do not belong into files; put it into an environment variable and name that in agent.auth_env';

const headers = z
  .record(z.string().regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, { error: 'expected the name of a header' }), z.string())
  .refine(
    (all) => !Object.keys(all).some((name) => /^(proxy-)?authorization$|^cookie$|api-?key|token|secret/i.test(name)),
    {
      error: `a header that carries a secret: ${KEYS_ELSEWHERE} (auth_header and auth_scheme say how it is sent)`,
    },
  )
  .refine((all) => !Object.values(all).some((value) => /[^\t\x20-\x7e]/.test(value)), {
    error: 'a header value may hold printable ASCII only',
  });

const responseMap = strictObject({
  answer: pointer.exactOptional(),
  final_status: pointer.exactOptional(),
  tool_calls: pointer.exactOptional(),
  pending_calls: pointer.exactOptional(),
  usage: pointer.exactOptional(),
  retrieved_doc_ids: pointer.exactOptional(),
  sub_agents: pointer.exactOptional(),
  plan: pointer.exactOptional(),
  model: pointer.exactOptional(),
});

const polling = strictObject({
  url: text,
  id: pointer.default('/id'),
  status: pointer.default('/status'),
  done: z.array(text).min(1).default(['completed', 'done', 'succeeded']),
  failed: z.array(text).default(['failed', 'error', 'canceled']),
  interval_ms: positive.default(500),
  cancel_url: text.exactOptional(),
});

export const httpAgentSchema = strictObject(
  {
    type: z.literal('http'),
    url,
    headers: headers.exactOptional(),
    auth_env: envName.exactOptional(),
    auth_header: text.regex(/^[A-Za-z0-9-]+$/, { error: 'expected the name of a header' }).default('Authorization'),
    auth_scheme: z
      .string()
      .regex(/^[A-Za-z0-9-]*$/, { error: 'expected a word such as Bearer, or "" for none' })
      .default('Bearer'),
    request: json.exactOptional(),
    response: responseMap.exactOptional(),
    statuses: z.record(z.string(), z.enum(FINAL_STATUSES)).exactOptional(),
    poll: polling.exactOptional(),
    max_response_bytes: positive.default(8 * 1024 * 1024),
    allow_private: z.boolean().default(false),
    version: text.exactOptional(),
  },
  { api_key: KEYS_ELSEWHERE, api_key_env: 'write auth_env', base_url: 'write url, the whole address' },
);

export const commandAgentSchema = strictObject({
  type: z.literal('command'),
  command: z.array(z.string()).min(1, { error: 'expected the program and its arguments, as a list' }),
  cwd: text.exactOptional(),
  env: z.record(envName, z.string()).exactOptional(),
  pass_env: z.array(envName).exactOptional(),
  model_access: z.boolean().default(false),
  options: jsonObject.exactOptional(),
  max_output_bytes: positive.default(16 * 1024 * 1024),
  version: text.exactOptional(),
});

export const replayAgentSchema = strictObject({
  type: z.literal('replay'),
  trajectories: text,
  version: text.exactOptional(),
});
