import { type ErrorRequestHandler, type RequestHandler, Router } from 'express';
import { isJsonObject, type Json, type JsonObject } from '../core/json.ts';
import { isTooLarge, jsonBody, TOO_LARGE } from './json-body.ts';
import { faultOfShape } from './wire-shape.ts';

/**
 * What JSON-RPC 2.0 says of requests that are none, in front of both protocol versions: the SDK's answers differ between
 * them, and it has no answer for some.
 */
export function jsonRpcEnvelope(): Router {
  const router = Router();
  router.use(jsonBody, unreadable);
  router.post('/', check);
  return router;
}

const unreadable: ErrorRequestHandler = (error: unknown, _req, res, next) => {
  if (error instanceof SyntaxError) res.json(refusal(null, -32_700, 'Parse error: the request is not JSON.'));
  else if (isTooLarge(error)) res.status(413).json(refusal(null, -32_600, `Invalid request: ${TOO_LARGE}`));
  else next(error);
};

const check: RequestHandler = (req, res, next) => {
  const body = req.body as Json | undefined;
  // Not read at all: of another content type, which the SDK answers.
  if (body === undefined) {
    next();
    return;
  }
  const fault = faultOf(body);
  if (fault === null) next();
  else res.json(refusal(body, fault.code, fault.message));
};

function faultOf(body: Json): { code: number; message: string } | null {
  const invalid = (what: string) => ({ code: -32_600, message: `Invalid request: ${what}.` });
  if (Array.isArray(body)) return invalid('batches are not taken');
  if (!isJsonObject(body)) return invalid('expected an object');
  const { jsonrpc, id, method, params } = body;
  if (jsonrpc !== '2.0') return invalid('jsonrpc must be "2.0"');
  if (typeof method !== 'string' || method === '') return invalid('method must be a text');
  if (id !== undefined && id !== null && typeof id !== 'string' && typeof id !== 'number') {
    return invalid('id must be a text or a number');
  }
  if (params !== undefined && !isJsonObject(params)) {
    return { code: -32_602, message: 'Invalid params: expected an object.' };
  }
  const fault = params === undefined ? null : (faultOfShape(params) ?? faultOfMethod(method, params));
  return fault === null ? null : { code: -32_602, message: `Invalid params: ${fault}.` };
}

/** What the SDK takes for granted. */
function faultOfMethod(method: string, params: JsonObject): string | null {
  const isSet = method === 'tasks/pushNotificationConfig/set';
  return isSet && !isJsonObject(params['pushNotificationConfig'] ?? null)
    ? 'pushNotificationConfig must be an object'
    : null;
}

function refusal(body: Json, code: number, message: string): object {
  const id = isJsonObject(body) ? body['id'] : undefined;
  const known = typeof id === 'string' || typeof id === 'number' ? id : null;
  return { jsonrpc: '2.0', id: known, error: { code, message } };
}
