import { Agent as HttpAgent, type AgentOptions, globalAgent as httpGlobal, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, globalAgent as httpsGlobal } from 'node:https';
import type { Readable } from 'node:stream';
import { createBrotliDecompress, createUnzip } from 'node:zlib';
import { headersOf, sendRequest, WITHOUT_BODY } from '../send-request.ts';

/** Like `fetch`: servers that close what is unused after five seconds are common, and must not be met in that moment. */
const UNUSED_MS = 4_000;
/** The options of the global agents hold the proxy of the environment, where Node is told to use it. */
const optionsOf = (agent: object): AgentOptions => ({
  ...(agent as { options: AgentOptions }).options,
  keepAlive: true,
  timeout: UNUSED_MS,
});
const httpAgent = new HttpAgent(optionsOf(httpGlobal));
const httpsAgent = new HttpsAgent(optionsOf(httpsGlobal));
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * `fetch` for requests with a text body or none, over Node's own HTTP client: a call costs a fifth less of the one thread
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
  };
  const response = await sendRequest(url, request, body, signal).catch((error: unknown) => {
    throw signal?.aborted === true ? error : new TypeError('fetch failed', { cause: error });
  });
  const status = response.statusCode ?? 0;
  if (REDIRECTS.has(status)) {
    response.destroy();
    return fetch(input, init);
  }
  if (WITHOUT_BODY.has(status)) {
    response.resume();
    return new Response(null, { status, headers: headersOf(response) });
  }
  return new Response(webStream(unpacked(response)), { status, headers: headersOf(response) });
};

/** The body. None is asked for that is packed, but proxies pack. */
function unpacked(response: IncomingMessage): Readable {
  const encoding = response.headers['content-encoding']?.toLowerCase() ?? 'identity';
  if (encoding === 'identity') return response;
  const unpack = encoding === 'br' ? createBrotliDecompress() : createUnzip();
  response.on('error', (error) => unpack.destroy(error));
  unpack.on('close', () => response.destroy());
  return response.pipe(unpack);
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
      body.on('end', () => controller.close());
      body.on('error', (error) => controller.error(error));
    },
    pull: () => void body.resume(),
    cancel: () => void body.destroy(),
  });
}
