import { type ClientRequest, type IncomingMessage, request as httpRequest, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { abortError } from './sleep.ts';

/** Statuses whose replies have no body: a `Response` of one may be given none. */
export const WITHOUT_BODY: ReadonlySet<number> = new Set([101, 103, 204, 205, 304]);

/**
 * Sends one request with Node's own HTTP client. The signal covers the whole exchange, the body of the reply included.
 * Rejects with an `AbortError` or the system's error.
 */
export function sendRequest(
  url: URL,
  options: RequestOptions,
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
    request.once('close', () => signal?.removeEventListener('abort', onAbort));
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

function open(url: URL, options: RequestOptions): ClientRequest {
  return url.protocol === 'https:' ? httpsRequest(url, options) : httpRequest(url, options);
}

/** The headers of a reply, as `fetch` has them. */
export function headersOf(response: IncomingMessage): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(response.headers)) {
    for (const one of Array.isArray(value) ? value : [value ?? '']) headers.append(name, one);
  }
  return headers;
}
