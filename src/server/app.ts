import type { AgentCard } from '@a2a-js/sdk';
import type { A2ARequestHandler } from '@a2a-js/sdk/server';
import { jsonRpcHandler, restHandler } from '@a2a-js/sdk/server/express';
import express, { type Express, type Request, Router } from 'express';
import { JSON_RPC_PATH, REST_PATH } from './a2a/agent-card.ts';
import { ClientUser } from './a2a/client-user.ts';
import { aliasRouter } from './aliases.ts';
import { cardRouter } from './card-router.ts';
import { bearerAuth, browserGuard, errorHandler, rateLimited, refuse, securityHeaders } from './guards.ts';
import { jsonBody } from './json-body.ts';
import { jsonRpcEnvelope } from './json-rpc-envelope.ts';
import type { RateLimit } from './rate-limit.ts';
import { restShape, restUnreadable, restWire } from './rest-wire.ts';

export interface AppOptions {
  requestHandler: A2ARequestHandler;
  card: AgentCard;
  /** null: no token is asked for, and only loopback names are answered. */
  token: string | null;
  /** Host and port of the address clients use. */
  publicHost: string;
  /** Form of the card for clients that do not say which protocol they speak. */
  cardForm: '0.3' | '1.0';
  limit: RateLimit;
  log: (line: string) => void;
}

/**
 * The HTTP side of `assay serve`. Open to all who reach it: the agent card and `GET /healthz`. Everything else needs the
 * token, if there is one. Bodies are bounded (json-body.ts).
 */
export function createApp(options: AppOptions): Express {
  const { requestHandler, card, token } = options;
  const userOf = (req: Pick<Request, 'res'>): Promise<ClientUser> => Promise.resolve(clientOf(req, token !== null));
  const app = express();
  app.disable('x-powered-by');
  app.set('trust proxy', false);
  app.use(securityHeaders);
  app.use(rateLimited(options.limit));
  app.use(browserGuard({ secured: token !== null, publicHost: options.publicHost }));
  app.get('/healthz', (_req, res) => {
    res.json({ status: 'ok' });
  });
  app.use('/.well-known/agent-card.json', cardRouter(card, options.cardForm));
  // Who asks at this path knows the older form only.
  app.use('/.well-known/agent.json', cardRouter(card, '0.3'));
  if (token !== null) app.use(bearerAuth(token));
  const transport = { requestHandler, userBuilder: userOf, legacyCompat: { enabled: true } };
  const jsonRpc = Router().use(jsonRpcEnvelope(), jsonRpcHandler(transport));
  app.use(JSON_RPC_PATH, jsonRpc);
  // Older clients send requests to where the card is.
  app.use((req, res, next) => (req.path === '/' ? jsonRpc(req, res, next) : next()));
  app.use(REST_PATH, restWire, jsonBody, restUnreadable, restShape, restHandler(transport));
  app.use(aliasRouter({ requestHandler, userOf }));
  app.use((_req, res) => refuse(res, 404, 'There is nothing at this path; see /.well-known/agent-card.json.'));
  app.use(errorHandler(options.log));
  return app;
}

function clientOf(req: Pick<Request, 'res'>, authenticated: boolean): ClientUser {
  const closed = new AbortController();
  req.res?.once('close', () => closed.abort());
  return new ClientUser(authenticated, closed.signal);
}
