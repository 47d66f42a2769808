import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A real HTTP server whose every request goes to `handler`; counts requests and keeps their bodies. */
export interface HttpEndpoint {
  baseUrl: string;
  bodies: Record<string, unknown>[];
  headers: IncomingMessage['headers'][];
  /** Resolves once a client has closed its connection before its response was finished. */
  clientGone: Promise<void>;
  close(): Promise<void>;
}

export async function startEndpoint(
  handler: (response: ServerResponse, body: Record<string, unknown>) => void,
): Promise<HttpEndpoint> {
  const bodies: Record<string, unknown>[] = [];
  const headers: IncomingMessage['headers'][] = [];
  let markGone = (): void => {};
  const clientGone = new Promise<void>((resolve) => {
    markGone = resolve;
  });
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(parts).toString('utf8')) as Record<string, unknown>;
      bodies.push(body);
      headers.push(request.headers);
      handler(response, body);
    });
    response.on('close', () => {
      if (!response.writableFinished) markGone();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    bodies,
    headers,
    clientGone,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export function sendJson(
  response: ServerResponse,
  body: unknown,
  status = 200,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
}

export function completion(message: Record<string, unknown>, rest: Record<string, unknown> = {}): unknown {
  return {
    id: 'c1',
    object: 'chat.completion',
    model: 'served-model',
    choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
    ...rest,
  };
}

export function sse(chunks: unknown[], done = true): string {
  const lines = chunks.map((chunk) => `data: ${typeof chunk === 'string' ? chunk : JSON.stringify(chunk)}\n\n`);
  return lines.join('') + (done ? 'data: [DONE]\n\n' : '');
}

export function delta(part: Record<string, unknown>, finishReason: string | null = null): unknown {
  return { model: 'served-model', choices: [{ index: 0, delta: part, finish_reason: finishReason }] };
}
