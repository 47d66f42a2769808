import { createServer } from 'node:http';
import { type AddressInfo, Socket } from 'node:net';
import { expect, test } from 'vitest';
import { sendRequest } from '../../../src/agents/send-request.ts';

test('a connection that is not made in time is given up', async () => {
  // Stands for a host whose answer never comes.
  const createConnection = (): Socket => Object.assign(new Socket(), { connecting: true });
  const call = sendRequest(new URL('http://model.invalid/'), { createConnection, connectMs: 30 }, null, undefined);
  await expect(call).rejects.toMatchObject({
    code: 'ETIMEDOUT',
    syscall: 'connect',
    message: 'no connection within 0.03 s',
  });
});

test('the reply may take longer than the connection', async () => {
  const server = createServer((_, response) => void setTimeout(() => response.end('late'), 150));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    const response = await sendRequest(url, { agent: false, connectMs: 60 }, null, undefined);
    expect(await response.toArray()).toEqual([Buffer.from('late')]);
  } finally {
    server.close();
  }
});
