import type { HttpAgentConfig } from '../../core/agent-config.ts';
import { MissingVariableError, ModelError, UserError } from '../../core/errors.ts';
import type { Json } from '../../core/json.ts';
import { parseJson } from '../../core/lossless-json.ts';
import { createGuardedFetch } from '../guarded-http/guarded-fetch.ts';
import { maskBody, withoutKey } from '../mask-key.ts';
import { connectionError, type RequestFacts, statusError } from './http-error.ts';

/** Requests to one HTTP agent. */
export interface HttpEndpoint {
  /**
   * Sends one request and reads its whole reply. Rejects with {@link ModelError} for infrastructure, `AgentReplyError` for
   * a reply too long, `AbortError` when the signal is aborted; the signal covers the body too.
   */
  send(method: 'POST' | 'GET', url: URL, body: Json | undefined, signal: AbortSignal): Promise<Json>;
}

/**
 * @param env where the secret is looked up, by the name in `auth_env`
 * @throws MissingVariableError when the variable is not set; UserError when its value can go into no header
 */
export function createHttpEndpoint(
  config: HttpAgentConfig,
  env: Readonly<Record<string, string | undefined>>,
): HttpEndpoint {
  const secret = secretOf(config, env);
  const typed = new URL(config.url);
  const guarded = createGuardedFetch({
    typed,
    allowPrivate: config.allow_private,
    trustTyped: true,
    maxBytes: config.max_response_bytes,
    ...(secret === null
      ? {}
      : {
          credentialHeader: config.auth_header,
          authorization: config.auth_scheme === '' ? secret : `${config.auth_scheme} ${secret}`,
        }),
  });
  return {
    async send(method, url, body, signal) {
      const facts: RequestFacts = { place: `${url.origin}${url.pathname}`, secret };
      try {
        const response = await guarded(url, {
          method,
          signal,
          headers: {
            accept: 'application/json',
            ...config.headers,
            ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        });
        const text = maskBody(await response.text(), secret);
        if (response.status >= 400) throw statusError(response, text, facts);
        return readBody(text, facts);
      } catch (error) {
        throw connectionError(error, facts);
      }
    },
  };
}

function secretOf(config: HttpAgentConfig, env: Readonly<Record<string, string | undefined>>): string | null {
  if (config.auth_env === undefined) return null;
  const secret = env[config.auth_env]?.trim() ?? '';
  if (secret === '') {
    throw new MissingVariableError(
      `agent.auth_env names ${config.auth_env}, which is not set`,
      'Leave auth_env out when the agent wants no secret.',
    );
  }
  if (/^[\x20-\x7e]+$/.test(secret)) return secret;
  throw new UserError(`the secret in ${config.auth_env} holds a line break or a letter beyond ASCII`, {
    hint: 'No header can carry it; set it anew.',
  });
}

function readBody(text: string, facts: RequestFacts): Json {
  // A task that is accepted or given up may have nothing to say.
  if (text.trim() === '') return null;
  const parsed = parseJson(text);
  if (parsed.ok) return parsed.value;
  const what = /^\s*</.test(text) ? 'HTML instead of JSON' : `no JSON (${parsed.error})`;
  const shown = withoutKey(JSON.stringify(text.slice(0, 200)), facts.secret);
  throw new ModelError('invalid_reply', `agent ${facts.place}: answered with ${what}: ${shown}`);
}
