import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createSuiteService } from '../../../src/server/a2a/suite-service.ts';
import { openServerRig, type ServerRig } from './support/server-rig.ts';
import { jsonRpc, message } from './support/wire.ts';

let rig: ServerRig;
let url: string;
beforeAll(async () => {
  rig = await openServerRig({ rules: [] }, { workers: 0 });
  const files = [rig.suite('one', 1), rig.suite('two', 1)];
  const served = await createSuiteService({ context: rig.context, db: rig.session.db, files });
  ({ url } = await rig.serve(served, { requestMs: 600 }));
});
afterAll(() => rig.close());

/** A client that sends a byte now and then. @returns what it was answered before the connection was closed */
async function drip(start: string, more: string): Promise<string> {
  const { port, hostname } = new URL(url);
  const socket: Socket = connect(Number(port), hostname);
  let said = '';
  socket.on('data', (chunk: Buffer) => (said += chunk.toString()));
  socket.on('error', () => undefined);
  socket.write(start);
  const timer = setInterval(() => socket.write(more), 50);
  await once(socket, 'close', { signal: AbortSignal.timeout(5_000) }).finally(() => {
    clearInterval(timer);
    socket.destroy();
  });
  return said;
}

test('headers or a body that only drip are cut off; a subscriber is not', async () => {
  const wire = jsonRpc(url);
  const { id } = wire.result(await wire.call('SendMessage', message('hello')))['task'] as { id: string };
  const follower = await fetch(`${url}/a2a/rest/tasks/${id}:subscribe`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
    body: '{}',
  });
  const { host } = new URL(url);
  const said = await Promise.all([
    drip(`POST /a2a/jsonrpc HTTP/1.1\r\nhost: ${host}\r\n`, 'x-a: b\r\n'),
    drip(
      `POST /a2a/jsonrpc HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/json\r\ncontent-length: 9000\r\n\r\n{`,
      ' ',
    ),
    ...Array.from({ length: 200 }, () => drip('G', 'E')),
  ]);
  expect(said.filter((one) => one.includes('200 OK'))).toEqual([]);
  await delay(300);
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  const reader = follower.body?.getReader();
  expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toContain('TASK_STATE_INPUT_REQUIRED');
  // Nothing more has come, its end neither.
  const next = await Promise.race([reader?.read(), delay(200).then(() => 'quiet')]);
  expect(next).toBe('quiet');
  await reader?.cancel();
});
