import { randomUUID } from 'node:crypto';
import { A2A_LEGACY_PROTOCOL_VERSION } from '@a2a-js/sdk/compat/v0_3';
import { LegacyJsonRpcTransportHandler } from '@a2a-js/sdk/compat/v0_3/server';
import { formatSSEErrorEvent, formatSSEEvent, SSE_HEADERS } from '@a2a-js/sdk';
import { type A2ARequestHandler, ServerCallContext, type User } from '@a2a-js/sdk/server';
import express, { type Request, type RequestHandler, type Response, type Router } from 'express';
import { isJsonObject, type Json, type JsonObject } from '../core/json.ts';
import { refuse } from './guards.ts';
import { jsonBody } from './json-body.ts';
import { shapeChecked } from './wire-shape.ts';

export interface AliasOptions {
  requestHandler: A2ARequestHandler;
  userOf: (req: Pick<Request, 'res'>) => Promise<User>;
}

type Reply = { result: Json } | { error: { code: number; message: string } };

/**
 * The paths of the first A2A drafts, as thin aliases of protocol 0.3: `POST /tasks/send`, `GET /tasks/{id}`,
 * `POST /tasks/sendSubscribe` (SSE), `POST /tasks/{id}/cancel`. Bodies are `{message, id?, sessionId?}`, alone or as the
 * `params` of a JSON-RPC request; tasks have a `sessionId` beside their `contextId`.
 */
export function aliasRouter({ requestHandler, userOf }: AliasOptions): Router {
  const handler = new LegacyJsonRpcTransportHandler(requestHandler);
  const call = async (req: Request, method: string, params: JsonObject): ReturnType<typeof handler.handle> => {
    const context = new ServerCallContext({
      user: await userOf(req),
      requestedVersion: A2A_LEGACY_PROTOCOL_VERSION,
    });
    return handler.handle({ jsonrpc: '2.0', id: randomUUID(), method, params }, context);
  };
  const router = express.Router();
  router.use(jsonBody);
  router.use(shapeChecked((_req, res, fault) => refuse(res, 400, `Invalid request: ${fault}.`), paramsOf));
  router.post(
    '/tasks/send',
    handled(async (req, res) => {
      const reply = await call(req, 'message/send', sendParams(paramsOf(req.body), false));
      answer(req, res, reply as unknown as Reply);
    }),
  );
  router.post(
    '/tasks/sendSubscribe',
    handled(async (req, res) => {
      const reply = await call(req, 'message/stream', sendParams(paramsOf(req.body), true));
      if (!isStream(reply)) answer(req, res, reply as unknown as Reply);
      else await stream(req, res, reply);
    }),
  );
  router.get(
    '/tasks/:id',
    handled(async (req, res) => {
      const { historyLength } = req.query;
      const params = {
        id: req.params.id,
        ...(historyLength === undefined ? {} : { historyLength: Number(historyLength) }),
      };
      answer(req, res, (await call(req, 'tasks/get', params)) as unknown as Reply);
    }),
  );
  router.post(
    '/tasks/:id/cancel',
    handled(async (req, res) => {
      answer(req, res, (await call(req, 'tasks/cancel', { id: req.params.id })) as unknown as Reply);
    }),
  );
  return router;
}

/** A rejection goes where thrown errors go. */
function handled(work: (req: Request<{ id: string }>, res: Response) => Promise<void>): RequestHandler<{ id: string }> {
  return (req, res, next) => {
    work(req, res).catch(next);
  };
}

function isStream(reply: object): reply is AsyncGenerator {
  return Symbol.asyncIterator in reply;
}

/** The body, or what a JSON-RPC request holds of it. */
function paramsOf(body: unknown): JsonObject {
  if (!isJsonObject(body as Json)) return {};
  const object = body as JsonObject;
  return isJsonObject(object['params']) && object['jsonrpc'] !== undefined ? object['params'] : object;
}

function sendParams(params: JsonObject, streaming: boolean): JsonObject {
  const message = isJsonObject(params['message']) ? params['message'] : {};
  const contextId = params['sessionId'] ?? message['contextId'];
  return {
    message: {
      kind: 'message',
      messageId: randomUUID(),
      role: 'user',
      ...message,
      parts: Array.isArray(message['parts']) ? message['parts'].map(currentPart) : [],
      ...(typeof params['id'] === 'string' ? { taskId: params['id'] } : {}),
      ...(typeof contextId === 'string' ? { contextId } : {}),
    },
    ...(streaming ? {} : { configuration: { blocking: false } }),
  };
}

/** Parts were told apart by `type` before they were by `kind`. */
function currentPart(part: Json): Json {
  if (!isJsonObject(part) || part['kind'] !== undefined) return part;
  const { type, ...rest } = part;
  return { kind: type ?? 'text', ...rest };
}

const STATUS_OF: Record<number, number> = { [-32001]: 404, [-32002]: 409, [-32602]: 400, [-32600]: 400, [-32005]: 415 };

function answer(req: Request, res: Response, reply: Reply): void {
  if ('error' in reply) {
    refuse(res, STATUS_OF[reply.error.code] ?? (reply.error.code === -32004 ? 409 : 500), reply.error.message);
    return;
  }
  const result = withSession(reply.result);
  res.json(isEnvelope(req) ? { jsonrpc: '2.0', id: (req.body as JsonObject)['id'] ?? null, result } : result);
}

function isEnvelope(req: Request): boolean {
  return isJsonObject(req.body as Json) && (req.body as JsonObject)['jsonrpc'] !== undefined;
}

/** `sessionId` was the name of `contextId`. */
function withSession(result: Json): Json {
  if (!isJsonObject(result) || typeof result['contextId'] !== 'string') return result;
  return { ...result, sessionId: result['contextId'] };
}

async function stream(req: Request, res: Response, events: AsyncGenerator): Promise<void> {
  const first = await events.next().catch((error: unknown) => {
    const { code, message } = LegacyJsonRpcTransportHandler.mapToLegacyJSONRPCError(error);
    answer(req, res, { error: { code, message } });
    return null;
  });
  if (first === null) return;
  for (const [name, value] of Object.entries(SSE_HEADERS)) res.setHeader(name, value);
  res.flushHeaders();
  try {
    for (let next = first; next.done !== true; next = await events.next()) {
      const { result } = next.value as { result: Json };
      res.write(formatSSEEvent(withSession(result)));
    }
  } catch (error) {
    res.write(formatSSEErrorEvent(LegacyJsonRpcTransportHandler.mapToLegacyJSONRPCError(error)));
  }
  res.end();
}
