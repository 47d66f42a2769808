import { type ClientRequest, type IncomingMessage, request as httpRequest, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { abortError } from './sleep.ts';

export const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
/** Statuses whose replies have no body: a `Response` of one may be given none. */
const WITHOUT_BODY: ReadonlySet<number> = new Set([101, 103, 204, 205, 304]);

/**
 * Sends one request with Node's own HTTP client. The signal covers the whole exchange, the body of the reply included. That
 * may have failed by the time the reply is taken: who reads it must look (`finished` and `pipeline` do).
 * Rejects with an `AbortError` or the system's error.
 * @param options `connectMs`: longest wait for a connection, milliseconds; default: the system's
 */
export function sendRequest(
  url: URL,
  options: RequestOptions & { connectMs?: number },
  body: string | null,
  signal: AbortSignal | null | undefined,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) {
      reject(abortError(signal));
      return;
    }
    const request = open(url, options);
    const onAbort = (): void => {
      request.destroy(abortError(signal as AbortSignal));
    };
    signal?.addEventListener('abort', onAbort, { once: true });
    request.once('close', () => {
      signal?.removeEventListener('abort', onAbort);
      // A reply that changes the protocol is neither a response nor an error.
      reject(new Error('the connection was closed without a reply'));
    });
    if (options.connectMs !== undefined) limitConnecting(request, options.connectMs);
    request.once('error', reject);
    request.once('response', (response) => {
      // After this, errors are those of the body.
      request.off('error', reject);
      request.on('error', (error) => response.destroy(error));
      resolve(response);
    });
    request.end(body ?? undefined);
  });
}

function limitConnecting(request: ClientRequest, ms: number): void {
  request.once('socket', (socket) => {
    // One that was kept, or a tunnel of a proxy.
    if (!socket.connecting) return;
    const expired = (): void => {
      const error = new Error(`no connection within ${ms / 1_000} s`);
      request.destroy(Object.assign(error, { code: 'ETIMEDOUT', syscall: 'connect' }));
    };
    const timer = setTimeout(expired, ms);
    for (const event of ['encrypted' in socket ? 'secureConnect' : 'connect', 'close']) {
      socket.once(event, () => clearTimeout(timer));
    }
  });
}

function open(url: URL, options: RequestOptions): ClientRequest {
  return url.protocol === 'https:' ? httpsRequest(url, options) : httpRequest(url, options);
}

/**
 * The reply as `fetch` gives it.
 * @param bodyOf how its body is read
 * @throws TypeError for a status that a `Response` cannot have; its connection is closed
 */
export function toResponse(
  response: IncomingMessage,
  bodyOf: (response: IncomingMessage) => ReadableStream<Uint8Array>,
): Response {
  const status = response.statusCode ?? 0;
  if (status < 200 || status > 599) {
    response.destroy();
    throw new TypeError(`the reply has the status ${status}`);
  }
  const init = { status, statusText: response.statusMessage ?? '', headers: headersOf(response) };
  if (!WITHOUT_BODY.has(status)) return new Response(bodyOf(response), init);
  response.resume();
  return new Response(null, init);
}

function headersOf(response: IncomingMessage): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(response.headers)) {
    for (const one of Array.isArray(value) ? value : [value ?? '']) headers.append(name, one);
  }
  return headers;
}
