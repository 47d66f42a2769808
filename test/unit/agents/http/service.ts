import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A real HTTP server on loopback that keeps what it was asked. */
export interface Service {
  url: string;
  paths: string[];
  /** JSON bodies, `{}` where there was none. */
  bodies: Record<string, unknown>[];
  headers: IncomingMessage['headers'][];
  /** Resolves once a client has closed its connection before its response was finished. */
  clientGone: Promise<void>;
  close(): Promise<void>;
}

export async function startService(
  handler: (body: Record<string, unknown>, response: ServerResponse, request: IncomingMessage) => void,
): Promise<Service> {
  const service: Pick<Service, 'paths' | 'bodies' | 'headers'> = { paths: [], bodies: [], headers: [] };
  let markGone = (): void => {};
  const clientGone = new Promise<void>((resolve) => {
    markGone = resolve;
  });
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const text = Buffer.concat(parts).toString('utf8');
      const body = JSON.parse(text === '' ? '{}' : text) as Record<string, unknown>;
      service.paths.push(request.url ?? '');
      service.headers.push(request.headers);
      service.bodies.push(body);
      handler(body, response, request);
    });
    response.on('close', () => {
      if (!response.writableFinished) markGone();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    ...service,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    clientGone,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
