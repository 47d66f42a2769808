import { Agent as HttpAgent, type AgentOptions, globalAgent as httpGlobal, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, globalAgent as httpsGlobal } from 'node:https';
import { finished, pipeline, type Readable } from 'node:stream';
import { constants, createBrotliDecompress, createUnzip } from 'node:zlib';
import { REDIRECTS, sendRequest, toResponse } from '../send-request.ts';

/** Like `fetch`: servers that close what is unused after five seconds are common, and must not be met in that moment. */
const UNUSED_MS = 4_000;
/** Longest wait for a connection, as of `fetch`. */
const CONNECT_MS = 10_000;
/** The options of the global agents hold the proxy of the environment, where Node is told to use it. */
const optionsOf = (agent: object): AgentOptions => ({
  ...(agent as { options: AgentOptions }).options,
  keepAlive: true,
  timeout: UNUSED_MS,
});
const httpAgent = new HttpAgent(optionsOf(httpGlobal));
const httpsAgent = new HttpsAgent(optionsOf(httpsGlobal));

/**
 * `fetch` for requests with a text body or none, over Node's own HTTP client: a call costs a third less of the one thread
 * that all trials share (bench/RESULTS.md). Connections are kept. What is rare, the global `fetch` does: redirects, other bodies.
 * Rejects as `fetch` does: with an `AbortError`, or with a TypeError whose cause is the system's error.
 */
export const httpFetch: typeof fetch = async (input, init = {}) => {
  const { body = null, signal } = init;
  if (input instanceof Request || (body !== null && typeof body !== 'string')) return fetch(input, init);
  const url = new URL(input);
  const request = {
    method: init.method ?? 'GET',
    headers: Object.fromEntries(new Headers(init.headers)),
    agent: url.protocol === 'https:' ? httpsAgent : httpAgent,
    connectMs: CONNECT_MS,
  };
  const response = await sendRequest(url, request, body, signal).catch((error: unknown) => {
    throw signal?.aborted === true ? error : new TypeError('fetch failed', { cause: error });
  });
  if (REDIRECTS.has(response.statusCode ?? 0)) {
    response.destroy();
    return fetch(input, init);
  }
  return toResponse(response, (reply) => webStream(unpacked(reply)));
};

const { Z_SYNC_FLUSH, BROTLI_OPERATION_FLUSH } = constants;
/** As `fetch` has them: what has come is given on, and an end is an end. */
const ZIPPED = { flush: Z_SYNC_FLUSH, finishFlush: Z_SYNC_FLUSH };
const BROTLI = { flush: BROTLI_OPERATION_FLUSH, finishFlush: BROTLI_OPERATION_FLUSH };

/** The body. None is asked for that is packed, but proxies pack. What else the header says (`utf-8`, nothing) packs nothing. */
function unpacked(response: IncomingMessage): Readable {
  const encoding = response.headers['content-encoding']?.trim().toLowerCase() ?? '';
  const nothing = response.headers['content-length'] === '0';
  if (nothing || !/^(x-gzip|gzip|deflate|br)$/.test(encoding)) return response;
  const unpack = encoding === 'br' ? createBrotliDecompress(BROTLI) : createUnzip(ZIPPED);
  // Its failure is the unpacked body's.
  return pipeline(response, unpack, () => undefined);
}

/** `Readable.toWeb` costs more than all the rest here. */
function webStream(body: Readable): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    start(controller) {
      body.on('data', (chunk: Buffer) => {
        // What was read before the cancellation may still come.
        if (body.destroyed) return;
        controller.enqueue(chunk);
        if ((controller.desiredSize ?? 0) <= 0) body.pause();
      });
      // Also tells of a body that has failed before anybody listened.
      finished(body, { writable: false }, (error) => {
        if (error === undefined || error === null) controller.close();
        else controller.error(error);
      });
    },
    pull: () => void body.resume(),
    cancel: () => void body.destroy(),
  });
}
