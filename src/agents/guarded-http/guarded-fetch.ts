import { lookup as dnsLookup, type LookupAddress } from 'node:dns';
import type { IncomingMessage } from 'node:http';
import type { LookupFunction } from 'node:net';
import { Readable, Transform } from 'node:stream';
import { ModelError } from '../../core/errors.ts';
import { REDIRECTS, sendRequest, toResponse } from '../send-request.ts';
import { checkAddress, checkUrl, mayCarryCredential, type TargetRules } from './target-rules.ts';

export interface GuardedFetchOptions extends TargetRules {
  /** Longest body that is read, bytes. */
  maxBytes: number;
  /** Value of the Authorization header; sent to the typed host only. */
  authorization?: string | null;
  /** Another header that carries it. Default `authorization`. */
  credentialHeader?: string;
  /** Default: the system's resolver. */
  resolve?: (hostname: string) => Promise<LookupAddress[]>;
}

/** A reply that is longer than is read. */
export class BodyTooLargeError extends Error {
  constructor(maxBytes: number) {
    super(`the reply is longer than ${maxBytes} bytes`);
    this.name = 'BodyTooLargeError';
  }
}

const MOST_REDIRECTS = 5;

/**
 * A `fetch` that checks where it connects to: the address in the URL, every address its name resolves to (it connects to
 * the checked one, so a name cannot change in between), and every redirect. Bodies are bounded and never unpacked. The
 * signal covers the whole exchange, the body included.
 * Rejects with BlockedTargetError, ModelError (`invalid_endpoint`) for a redirect that cannot be followed, {@link BodyTooLargeError} (while the body is read), `AbortError`, or the system's error.
 */
export function createGuardedFetch(options: GuardedFetchOptions): typeof fetch {
  return async (input, init = {}) => {
    let url = new URL(input instanceof Request ? input.url : input);
    const body = bodyOf(init.body);
    for (let hop = 0; ; hop += 1) {
      checkUrl(url, options);
      const response = await send(url, init, body, options);
      const next = redirectOf(response, url);
      if (next === null) return plainResponse(response, options.maxBytes);
      response.destroy();
      const method = init.method ?? 'GET';
      if (method !== 'GET' && response.statusCode !== 307 && response.statusCode !== 308) {
        throw wrongAddress(url, `redirects a ${method} request with status ${response.statusCode} to ${placeOf(next)}`);
      }
      if (hop >= MOST_REDIRECTS) throw wrongAddress(url, `comes after more than ${MOST_REDIRECTS} redirects`);
      url = next;
    }
  };
}

/** No request would fare better: the address is not the service's. */
function wrongAddress(url: URL, how: string): ModelError {
  return new ModelError('invalid_endpoint', `${placeOf(url)} ${how}. Correct the address.`);
}

/** Without what may hold a secret. */
function placeOf({ origin, pathname }: URL): string {
  return `${origin}${pathname}`;
}

function bodyOf(body: unknown): string | null {
  if (body === undefined || body === null) return null;
  if (typeof body !== 'string') throw new TypeError('only text bodies are sent');
  return body;
}

function redirectOf(response: IncomingMessage, from: URL): URL | null {
  const { location } = response.headers;
  if (!REDIRECTS.has(response.statusCode ?? 0) || location === undefined) return null;
  return new URL(location, from);
}

function requestHeaders(url: URL, init: RequestInit, options: GuardedFetchOptions): Record<string, string> {
  const headers = new Headers(init.headers);
  // A packed body could be a thousand times longer than it looks.
  headers.set('accept-encoding', 'identity');
  const { authorization, credentialHeader = 'authorization' } = options;
  headers.delete(credentialHeader);
  if (authorization !== undefined && authorization !== null && mayCarryCredential(url, options.typed)) {
    headers.set(credentialHeader, authorization);
  }
  return Object.fromEntries(headers);
}

function send(
  url: URL,
  init: RequestInit,
  body: string | null,
  options: GuardedFetchOptions,
): Promise<IncomingMessage> {
  const request = {
    method: init.method ?? 'GET',
    headers: requestHeaders(url, init, options),
    lookup: checkedLookup(url, options),
    // A connection of its own: one from a pool may be half closed, and its address was checked for another request.
    agent: false,
  };
  return sendRequest(url, request, body, init.signal);
}

function checkedLookup(url: URL, options: GuardedFetchOptions): LookupFunction {
  const resolve = options.resolve ?? resolveAll;
  return (hostname, { all }, callback) => {
    resolve(hostname)
      .then((addresses) => {
        const [first] = addresses;
        if (first === undefined) throw new Error(`${hostname} has no address`);
        for (const { address } of addresses) checkAddress(address, url, options);
        return { addresses, first };
      })
      .then(
        ({ addresses, first }) => {
          if (all === true) callback(null, addresses);
          else callback(null, first.address, first.family);
        },
        (error: unknown) => callback(error as NodeJS.ErrnoException, ''),
      );
  };
}

function resolveAll(hostname: string): Promise<LookupAddress[]> {
  return new Promise((resolve, reject) => {
    dnsLookup(hostname, { all: true }, (error, addresses) => (error === null ? resolve(addresses) : reject(error)));
  });
}

function plainResponse(response: IncomingMessage, maxBytes: number): Response {
  const encoding = response.headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity') {
    response.destroy();
    throw new TypeError(`the reply is packed (${encoding}), which was not asked for`);
  }
  if (Number(response.headers['content-length'] ?? 0) > maxBytes) {
    response.destroy();
    throw new BodyTooLargeError(maxBytes);
  }
  return toResponse(response, (reply) => Readable.toWeb(bounded(reply, maxBytes)) as ReadableStream<Uint8Array>);
}

/** The body as far as it is read; an end before its length is an error, not an end. */
function bounded(response: IncomingMessage, maxBytes: number): Readable {
  let read = 0;
  const limit = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      read += chunk.length;
      if (read > maxBytes) done(new BodyTooLargeError(maxBytes));
      else done(null, chunk);
    },
  });
  response.on('error', (error) => limit.destroy(error));
  response.on('aborted', () => limit.destroy(new TypeError('the connection was closed in the middle of the reply')));
  limit.on('close', () => response.destroy());
  // It may have failed in the moment its head came.
  if (response.destroyed)
    limit.destroy(response.errored ?? new TypeError('the connection was closed in the middle of the reply'));
  return response.pipe(limit);
}
