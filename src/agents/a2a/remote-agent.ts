import { AgentCard } from '@a2a-js/sdk';
import {
  type Client,
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from '@a2a-js/sdk/client';
import type { A2aTarget } from '../../core/a2a-config.ts';
import { MissingVariableError, ModelError, UserError } from '../../core/errors.ts';
import { isJsonObject } from '../../core/json.ts';
import { parseJson } from '../../core/lossless-json.ts';
import { createGuardedFetch, type GuardedFetchOptions } from '../guarded-http/guarded-fetch.ts';
import { parseRetryAfter } from '../openai/retry-after.ts';
import { startTimeCap } from '../time-cap.ts';
import { remoteFailure } from './remote-error.ts';

/** A remote agent whose card was read. */
export interface RemoteAgent {
  card: AgentCard;
  client: Client;
  /** Removed from everything recorded. */
  token: string | null;
  /** Host for messages. */
  where: string;
}

export interface RemoteDeps {
  /** Environment the token is looked up in. */
  env: Readonly<Record<string, string | undefined>>;
  resolve?: GuardedFetchOptions['resolve'];
}

/** A card is a small file: it must be there in whole within this time, however slowly it drips. */
const CARD_DEADLINE_MS = 10_000;
const CARD_MAX_BYTES = 1024 * 1024;
const WELL_KNOWN = ['/.well-known/agent-card.json', '/.well-known/agent.json'];

/**
 * Reads the card of a remote agent and opens a client over the first transport both sides know (JSON-RPC or HTTP+JSON,
 * protocol 1.0 or 0.3).
 * @throws MissingVariableError when the token's variable is not set
 * @throws UserError when there is no usable card, or an address is private
 * @throws ModelError when the host cannot be reached or refuses
 */
export async function connectRemoteAgent(target: A2aTarget, deps: RemoteDeps): Promise<RemoteAgent> {
  const typed = new URL(target.card_url);
  const token = tokenOf(target, deps);
  const rules = {
    typed,
    allowPrivate: target.allow_private,
    authorization: token === null ? null : `Bearer ${token}`,
    ...(deps.resolve === undefined ? {} : { resolve: deps.resolve }),
  };
  const raw = await readCard(typed, createGuardedFetch({ ...rules, maxBytes: CARD_MAX_BYTES }), token);
  const guarded = createGuardedFetch({ ...rules, maxBytes: target.max_response_bytes });
  const fetchImpl = withAddress(withStatus(guarded, typed.host), typed.host);
  const legacyCompat = { enabled: true };
  const factory = new ClientFactory({
    transports: [
      new JsonRpcTransportFactory({ fetchImpl, legacyCompat }),
      new RestTransportFactory({ fetchImpl, legacyCompat }),
    ],
  });
  // What a card leaves out is filled in: the SDK hands it on as it came.
  const card = AgentCard.fromJSON(raw);
  try {
    const client = await factory.createFromAgentCard(card);
    return { card, client, token, where: typed.host };
  } catch (error) {
    const offered = card.supportedInterfaces.map((one) => `${one.protocolBinding} ${one.protocolVersion}`);
    throw new UserError(`the agent card at ${typed.href} offers no way to talk to it that Assay knows`, {
      hint: `it offers ${offered.join(', ') || 'nothing'}; Assay speaks JSONRPC and HTTP+JSON, protocol 1.0 and 0.3`,
      cause: error,
    });
  }
}

function tokenOf(target: A2aTarget, { env }: RemoteDeps): string | null {
  if (target.auth_env === undefined) return null;
  const token = (env[target.auth_env] ?? '').trim();
  if (token === '') {
    throw new MissingVariableError(
      `auth_env names ${target.auth_env}, which is not set: the token for ${target.card_url}`,
      'Leave auth_env out when the agent wants no token.',
    );
  }
  if (!/^[\x21-\x7e]+$/.test(token)) {
    throw new UserError(`the token in ${target.auth_env} holds a space, a line break or a letter beyond ASCII`, {
      hint: 'no header can carry it; set the token alone, without `Bearer`',
    });
  }
  return token;
}

async function readCard(typed: URL, guarded: typeof fetch, token: string | null): Promise<AgentCard> {
  const cap = startTimeCap(new AbortController().signal, CARD_DEADLINE_MS);
  const fetchImpl = withStatus(
    (input, init) => guarded(input, { ...init, signal: cap.signal }),
    typed.host,
  ) as typeof fetch;
  const resolver = new DefaultAgentCardResolver({ fetchImpl, legacyCompat: { enabled: true } });
  try {
    const paths = typed.pathname === '/' && typed.search === '' ? WELL_KNOWN : [`${typed.pathname}${typed.search}`];
    for (const path of paths) {
      const card = await resolver.resolve(typed.origin, path).catch((error: unknown) => {
        if (error instanceof Error && /Failed to fetch Agent Card.*: 404$/.test(error.message)) return null;
        throw error;
      });
      if (card !== null) return card;
    }
    throw new UserError(`there is no agent card at ${typed.origin}${paths.join(' nor at ')}`, {
      hint: 'card_url is the address of the card; of a host alone, its well-known paths are tried',
    });
  } catch (error) {
    throw cardError(error, { typed, token, late: cap.expired() });
  } finally {
    cap.dispose();
  }
}

function cardError(error: unknown, facts: { typed: URL; token: string | null; late: boolean }): Error {
  const { typed, token, late } = facts;
  if (error instanceof UserError) return error;
  if (error instanceof Error && error.message.startsWith('Failed to fetch Agent Card')) {
    return noCard(typed, error.message, error);
  }
  if (late) {
    return new ModelError('timeout', `A2A agent ${typed.host}: no complete card within ${CARD_DEADLINE_MS} ms`);
  }
  const failure = remoteFailure(error, typed.host, token);
  if ('thrown' in failure && failure.thrown instanceof ModelError && failure.thrown.kind !== 'invalid_reply') {
    return failure.thrown;
  }
  if ('thrown' in failure && failure.thrown instanceof UserError) return failure.thrown;
  const why = 'failed' in failure ? failure.failed : failure.thrown.message;
  return noCard(typed, why, error);
}

function noCard(typed: URL, why: string, cause: unknown): UserError {
  return new UserError(`what is at ${typed.href} is no agent card: ${why}`, {
    hint: 'card_url is the address of the card (JSON); see docs/a2a.md',
    cause,
  });
}

/**
 * A 404 that is no error of the protocol says that the card names a wrong address, for every trial alike. Of an address that
 * has answered before it is a proxy whose agent is away.
 */
function withAddress(fetchImpl: typeof fetch, where: string): typeof fetch {
  let answered = false;
  return async (input, init) => {
    const response = await fetchImpl(input, init);
    if (!MISSING.has(response.status)) {
      answered = true;
      return response;
    }
    const body = await response.text();
    const { status, statusText, headers } = response;
    if (isProtocolError(body)) {
      answered = true;
      return new Response(body, { status, statusText, headers });
    }
    const { origin, pathname } = new URL(input instanceof Request ? input.url : input);
    const address = `A2A agent ${where}: HTTP ${status} at ${origin}${pathname}`;
    if (answered) throw new ModelError('server_error', `${address}, where it had answered`, { status });
    throw new ModelError('invalid_endpoint', `${address}, the address its card names. Correct the card.`, { status });
  };
}

const MISSING: ReadonlySet<number> = new Set([404, 405, 410]);

/** True for the errors of JSON-RPC and HTTP+JSON (`{error: {…}}`), and those of protocol 0.3 (`{code, message}`). */
function isProtocolError(body: string): boolean {
  const parsed = parseJson(body);
  if (!parsed.ok || !isJsonObject(parsed.value)) return false;
  const { error, code } = parsed.value;
  return (error !== undefined && isJsonObject(error)) || typeof code === 'number';
}

const ADVICE: Record<number, string> = {
  401: '. Set a valid token in the variable that auth_env (agent.auth_env, or a2a.auth_env of the tool) names.',
  403: '. The token in the variable of auth_env (agent.auth_env, or a2a.auth_env of the tool) may not be used for this.',
};

/** Statuses that say something about host or access, before the A2A client makes one error of all of them. */
function withStatus(fetchImpl: typeof fetch, where: string): typeof fetch {
  return async (input, init) => {
    const response = await fetchImpl(input, init);
    const { status } = response;
    const kind =
      status === 401
        ? 'unauthorized'
        : status === 403
          ? 'forbidden'
          : status === 429
            ? 'rate_limit'
            : status >= 500
              ? 'server_error'
              : null;
    if (kind === null) return response;
    await response.body?.cancel();
    const remedy = ADVICE[status] ?? '';
    throw new ModelError(kind, `A2A agent ${where}: HTTP ${status}${remedy}`, {
      status,
      retryAfterMs: parseRetryAfter(response.headers, Date.now()),
    });
  };
}
