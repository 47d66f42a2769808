import { ContentTypeNotSupportedError, RequestMalformedError, toRestErrorBody } from '@a2a-js/sdk/errors';
import type { ErrorRequestHandler, Request, RequestHandler, Response } from 'express';
import { isJsonObject, type Json } from '../core/json.ts';
import { isTooLarge, TOO_LARGE } from './json-body.ts';
import { shapeChecked } from './wire-shape.ts';

const UNSUPPORTED = 415;

/** Statuses by the reason of an error. */
const STATUSES: Record<string, number> = {
  CONTENT_TYPE_NOT_SUPPORTED: UNSUPPORTED,
  TASK_NOT_CANCELABLE: 409,
  INVALID_AGENT_RESPONSE: 502,
};

/**
 * What protocol 1.0 says of HTTP+JSON (section 11.1 and the table of errors) where the SDK does otherwise: answers are
 * `application/json`, and some errors have a status of their own.
 */
export const restWire: RequestHandler = (req, res, next) => {
  const json = res.json.bind(res);
  res.json = (body) => {
    const status = statusOf(body as Json);
    if (status !== null) res.status(status);
    res.setHeader('Content-Type', 'application/json; charset=utf-8');
    return json(status === null ? body : withCode(body as Json, status));
  };
  const type = req.headers['content-type'];
  if (type === undefined || /^application\/(a2a\+)?json\b/i.test(type)) {
    next();
    return;
  }
  const error = new ContentTypeNotSupportedError(`The content type ${type.slice(0, 100)} is not supported.`);
  res.status(UNSUPPORTED).json(toRestErrorBody(error, UNSUPPORTED));
};

/** Bodies that cannot be taken, in the form of the version that is asked. */
export const restUnreadable: ErrorRequestHandler = (error: unknown, req, res, next) => {
  const tooLarge = isTooLarge(error);
  if (!tooLarge && !(error instanceof SyntaxError)) {
    next(error);
    return;
  }
  const status = tooLarge ? 413 : 400;
  const message = tooLarge ? TOO_LARGE : 'Invalid JSON payload.';
  refuse(req, res, { status, code: tooLarge ? -32_600 : -32_700, message });
};

/** Bodies of a wrong shape, likewise. */
export const restShape: RequestHandler = shapeChecked((req, res, fault) => {
  refuse(req, res, { status: 400, code: -32_602, message: `Invalid request: ${fault}.` });
});

function refuse(req: Request, res: Response, error: { status: number; code: number; message: string }): void {
  const { status, code, message } = error;
  const older = /^\/v1\b/.test(req.path);
  res.status(status).json(older ? { code, message } : toRestErrorBody(new RequestMalformedError(message), status));
}

function statusOf(body: Json): number | null {
  const error = isJsonObject(body) ? body['error'] : undefined;
  const details = error !== undefined && isJsonObject(error) ? error['details'] : undefined;
  const [detail] = Array.isArray(details) ? details : [];
  const reason = detail !== undefined && isJsonObject(detail) ? detail['reason'] : undefined;
  return typeof reason === 'string' && Object.hasOwn(STATUSES, reason) ? (STATUSES[reason] ?? null) : null;
}

function withCode(body: Json, status: number): Json {
  if (!isJsonObject(body) || !isJsonObject(body['error'] ?? null)) return body;
  return { ...body, error: { ...(body['error'] as object), code: status } };
}
