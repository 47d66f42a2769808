import { z } from 'zod';
import { strictObject } from './strict-object.schema.ts';

const text = z.string().min(1, { error: 'must not be empty' });
const positive = z.int().min(1);

const cardUrl = text
  .regex(/^https?:\/\/[^/]/, { error: 'expected an address that starts with http:// or https://' })
  .regex(/^(?!https?:\/\/[^/?#]*@)/, {
    error: 'expected an address without user name and password; name the variable of the token in auth_env',
  });

const target = {
  card_url: cardUrl,
  auth_env: text
    .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, {
      error: 'expected the name of an environment variable, never the token itself',
    })
    .exactOptional(),
  allow_private: z.boolean().default(false),
  mode: z.enum(['auto', 'stream', 'poll', 'blocking']).default('auto'),
  poll_interval_ms: positive.default(1_000),
  patience_ms: positive.default(30_000),
  max_response_bytes: positive.default(8 * 1024 * 1024),
};

const HINTS = {
  url: 'write card_url, the address of the agent card',
  token: 'tokens do not belong into files; put it into an environment variable and name that in auth_env',
  api_key: 'keys do not belong into files; put it into an environment variable and name that in auth_env',
};

export const a2aAgentSchema = strictObject({ type: z.literal('a2a'), ...target, version: text.exactOptional() }, HINTS);

export const a2aToolSchema = strictObject({ ...target, timeout_ms: positive.default(60_000) }, HINTS);
