import type { ServerResponse } from 'node:http';
import type { JsonObject } from '../core/json.ts';
import { completionBody, completionChunks, errorBody } from './reply.ts';
import type { Completion } from './reply.ts';
import type { Reply } from './script.ts';

/** Writes one JSON body with its length, so that the connection stays open for the next request. */
export function sendBody(
  response: ServerResponse,
  status: number,
  body: string,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    ...headers,
  });
  response.end(body);
}

/** Sends an error in OpenAI's form. */
export function sendError(response: ServerResponse, status: number, message: string, code: string | null = null): void {
  sendBody(response, status, errorBody(status, { message, code }));
}

/** Sends a scripted reply whose delay is over: a body, a stream, an error, or one of its faults. */
export function sendReply(
  response: ServerResponse,
  reply: Reply,
  completion: Completion,
  how: { stream: boolean; includeUsage: boolean; createdS: number; wait: (ms: number, then: () => void) => void },
): void {
  const status = statusOf(reply);
  if (reply.body !== undefined) {
    const type = reply.content_type ?? (reply.body.trimStart().startsWith('<') ? 'text/html' : 'application/json');
    write(response, status, reply.body, { 'content-type': type, ...reply.headers }, reply.drop === 'mid');
  } else if (reply.error !== undefined || status >= 400) {
    write(response, status, errorBody(status, reply.error ?? {}), { ...reply.headers }, reply.drop === 'mid');
  } else if (how.stream) {
    stream(response, reply, completionChunks(completion, how.createdS, how.includeUsage), how.wait);
  } else {
    write(response, status, completionBody(completion, how.createdS), { ...reply.headers }, reply.drop === 'mid');
  }
}

/** The status a reply is sent with: 400 for an error without one, else 200. */
export function statusOf(reply: Reply): number {
  return reply.status ?? (reply.error === undefined ? 200 : 400);
}

/** The usage a client of this reply is told; null for errors and raw bodies. */
export function usageTold(reply: Reply, completion: Completion, stream: boolean, included: boolean): JsonObject | null {
  if (reply.body !== undefined || reply.error !== undefined || statusOf(reply) >= 400) return null;
  return stream && !included ? null : completion.usage;
}

function write(
  response: ServerResponse,
  status: number,
  body: string,
  headers: Record<string, string>,
  cut: boolean,
): void {
  if (!cut) {
    sendBody(response, status, body, headers);
    return;
  }
  const bytes = Buffer.from(body);
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': bytes.length, ...headers });
  response.write(bytes.subarray(0, bytes.length >> 1), () => response.destroy());
}

function stream(
  response: ServerResponse,
  reply: Reply,
  chunks: string[],
  wait: (ms: number, then: () => void) => void,
): void {
  response.writeHead(statusOf(reply), {
    'content-type': 'text/event-stream',
    'cache-control': 'no-cache',
    ...reply.headers,
  });
  const rest = (): void => {
    if (reply.drop === 'mid') response.write(chunks.slice(1, chunks.length >> 1).join(''), () => response.destroy());
    else if (reply.stall_after !== undefined) response.write(chunks.slice(1, reply.stall_after).join(''));
    else response.end(chunks.slice(1).join(''));
  };
  if (reply.stall_after === 0) {
    response.flushHeaders();
    return;
  }
  const firstTokenDelayMs = reply.first_token_delay_ms ?? 0;
  response.write(chunks[0] ?? '');
  if (firstTokenDelayMs > 0) wait(firstTokenDelayMs, rest);
  else rest();
}
