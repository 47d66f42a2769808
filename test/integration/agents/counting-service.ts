import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Answer = (n: number, request: number, response: ServerResponse) => void;

/** An agent over HTTP that is asked `say N.`; its calls are in no journal, so it counts them. */
export interface CountingService {
  url: string;
  /** Requests by N. */
  requests: Map<number, number>;
  close(): void;
}

/** @param answer gets N, the how manieth request with it this is (from 1), and the response to end */
export async function startCountingService(answer: Answer): Promise<CountingService> {
  const requests = new Map<number, number>();
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (part: Buffer) => (text += part.toString()));
    request.on('end', () => {
      const { input } = JSON.parse(text) as { input: string };
      const n = Number(/\d+/.exec(input)?.[0]);
      requests.set(n, (requests.get(n) ?? 0) + 1);
      answer(n, requests.get(n) ?? 0, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/agent`,
    requests,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

export const send = (response: ServerResponse, body: unknown, status = 200): void => {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
};

export const echo: Answer = (n, _request, response) => send(response, { answer: `echo ${n}.` });
