import { createHash, timingSafeEqual } from 'node:crypto';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { isLoopbackHost } from '../agents/guarded-http/addresses.ts';
import { isTooLarge, TOO_LARGE } from './json-body.ts';
import type { RateLimit } from './rate-limit.ts';

/** Answers that are not the protocol's own: one JSON object, nothing of the inside. */
export function refuse(res: Response, status: number, message: string): void {
  if (res.headersSent) {
    res.end();
    return;
  }
  res.status(status).json({ error: { code: status, message } });
}

/** Headers that keep browsers from making anything of an answer but data. */
export const securityHeaders: RequestHandler = (_req, res, next) => {
  res.setHeader('X-Content-Type-Options', 'nosniff');
  res.setHeader('X-Frame-Options', 'DENY');
  res.setHeader('Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'");
  res.setHeader('Referrer-Policy', 'no-referrer');
  res.setHeader('Cross-Origin-Resource-Policy', 'same-origin');
  res.setHeader('Cache-Control', 'no-store');
  next();
};

/**
 * Keeps web pages out. A page a user looks at may send requests to this machine: its origin gives it away. A name that an
 * attacker lets point here (DNS rebinding) shows in the Host header: without a token only loopback names are answered.
 */
export function browserGuard(options: { secured: boolean; publicHost: string }): RequestHandler {
  return (req, res, next) => {
    const host = req.headers.host ?? '';
    const { origin } = req.headers;
    const name = host.replace(/:\d+$/, '');
    if (!options.secured && !isLoopbackHost(name))
      refuse(res, 403, `The host ${host.slice(0, 100)} is not served here.`);
    else if (origin !== undefined && !isOwn(origin, [host, options.publicHost])) {
      refuse(res, 403, 'Requests of web pages of other origins are not taken.');
    } else next();
  };
}

function isOwn(origin: string, hosts: readonly string[]): boolean {
  return URL.canParse(origin) && hosts.includes(new URL(origin).host);
}

/** Requests need `Authorization: Bearer <token>`; the comparison takes the same time whatever is wrong. */
export function bearerAuth(token: string): RequestHandler {
  const wanted = digest(token);
  return (req, res, next) => {
    const [, given] = /^Bearer +([^\s]+)$/i.exec(req.headers.authorization ?? '') ?? [];
    if (timingSafeEqual(digest(given ?? ''), wanted) && given !== undefined) {
      next();
      return;
    }
    res.setHeader('WWW-Authenticate', 'Bearer realm="assay"');
    refuse(res, 401, 'A valid bearer token is required.');
  };
}

/** Of one length, so that the comparison says nothing of the token's. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

export function rateLimited(limit: RateLimit): RequestHandler {
  return (req, res, next) => {
    const waitMs = limit.take(req.socket.remoteAddress ?? 'unknown');
    if (waitMs === 0) {
      next();
      return;
    }
    res.setHeader('Retry-After', String(Math.ceil(waitMs / 1_000)));
    refuse(res, 429, 'Too many requests.');
  };
}

/** What a body parser throws, and anything unforeseen: its text goes to the log, not to the client. */
export function errorHandler(log: (line: string) => void) {
  return (error: unknown, _req: Request, res: Response, _next: NextFunction): void => {
    const { status, message } = error as { status?: unknown; message?: unknown };
    if (isTooLarge(error)) refuse(res, 413, TOO_LARGE);
    else if (typeof status === 'number' && status >= 400 && status < 500) refuse(res, status, String(message));
    else {
      log(`ERROR ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
      refuse(res, 500, 'Internal error.');
    }
  };
}
