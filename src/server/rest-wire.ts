import { ContentTypeNotSupportedError, toRestErrorBody } from '@a2a-js/sdk/errors';
import type { RequestHandler } from 'express';
import { isJsonObject, type Json } from '../core/json.ts';

const UNSUPPORTED = 415;

/**
 * What protocol 1.0 says of HTTP+JSON (section 11.1 and the table of errors) where the SDK does otherwise: answers are
 * `application/json`, and an unsupported content is status 415.
 */
export const restWire: RequestHandler = (req, res, next) => {
  const json = res.json.bind(res);
  res.json = (body) => {
    const refused = isUnsupported(body as Json);
    if (refused) res.status(UNSUPPORTED);
    res.setHeader('Content-Type', 'application/json; charset=utf-8');
    return json(refused ? withCode(body as Json) : body);
  };
  const type = req.headers['content-type'];
  if (type === undefined || /^application\/(a2a\+)?json\b/i.test(type)) {
    next();
    return;
  }
  const error = new ContentTypeNotSupportedError(`The content type ${type.slice(0, 100)} is not supported.`);
  res.status(UNSUPPORTED).json(toRestErrorBody(error, UNSUPPORTED));
};

function isUnsupported(body: Json): boolean {
  const error = isJsonObject(body) ? body['error'] : undefined;
  const details = error !== undefined && isJsonObject(error) ? error['details'] : undefined;
  return (
    Array.isArray(details) &&
    details.some((detail) => isJsonObject(detail) && detail['reason'] === 'CONTENT_TYPE_NOT_SUPPORTED')
  );
}

function withCode(body: Json): Json {
  if (!isJsonObject(body) || !isJsonObject(body['error'] ?? null)) return body;
  return { ...body, error: { ...(body['error'] as object), code: UNSUPPORTED } };
}
