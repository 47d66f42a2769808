import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { claimA2aPush } from '../../../src/db/a2a-pushes.ts';
import type { Served } from '../../../src/server/a2a/served.ts';
import { createSuiteService } from '../../../src/server/a2a/suite-service.ts';
import { openServerRig, type ServerRig } from './support/server-rig.ts';
import { jsonRpc, type Loose, message } from './support/wire.ts';

let rig: ServerRig;
let served: Served;
beforeAll(async () => {
  rig = await openServerRig({ rules: [{ name: 'hello', reply: { content: 'hello' } }], delay_ms: 100 });
  const files = [rig.suite('one', 1), rig.suite('many', 30, 'concurrency: 4\n')];
  served = await createSuiteService({ context: rig.context, db: rig.session.db, files });
});
afterAll(() => rig.close());
beforeEach(() => {
  vi.spyOn(console, 'error').mockImplementation(() => undefined);
});

interface Hook {
  url: string;
  /** States that were told, in order; `artifact` for an artifact. */
  told: string[];
  close(): void;
}

/** A webhook. @param answer milliseconds it takes to answer, and the status */
async function openHook(answer = { afterMs: 0, status: 200 }): Promise<Hook> {
  const told: string[] = [];
  const server: Server = createServer((req, res) => {
    let text = '';
    req.on('data', (chunk: Buffer) => (text += chunk.toString()));
    req.on('end', () => {
      const body = JSON.parse(text) as Loose;
      told.push((body['statusUpdate']?.status.state as string | undefined) ?? 'artifact');
      setTimeout(() => res.writeHead(answer.status, { location: '/services/secret-path/next' }).end(), answer.afterMs);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/services/secret-path`, told, close: () => void server.close() };
}

const withHook = (url: string): Loose => ({
  configuration: { returnImmediately: true, taskPushNotificationConfig: { url, token: 'token-of-client' } },
});
const ends = (hook: Hook): string[] => hook.told.filter((state) => state === 'TASK_STATE_COMPLETED');
const sentTask = async (url: string, params: Loose): Promise<Loose> => {
  const wire = jsonRpc(url);
  return wire.result(await wire.call('SendMessage', params))['task'] as Loose;
};
const stored = (id: string): Promise<Loose> =>
  rig.session.db.selectFrom('a2a_task').selectAll().where('id', '=', id).executeTakeFirstOrThrow() as Promise<Loose>;

test('two servers that follow one task tell its webhook each change once', async () => {
  const hook = await openHook({ afterMs: 50, status: 200 });
  const own = { ...served, key: 'twins' };
  const first = await rig.serve(own, { allowPrivateWebhooks: true });
  const { id } = await sentTask(first.url, message('run many', withHook(hook.url)));
  // It takes up what runs, as every server that starts.
  const second = await rig.serve(own, { allowPrivateWebhooks: true });
  await vi.waitFor(async () => expect((await stored(id))['pushed']).toBe('completed'), { timeout: 20_000 });
  await delay(1_500);
  expect(ends(hook)).toHaveLength(1);
  expect(hook.told.filter((state) => state === 'artifact')).toHaveLength(2);
  expect(JSON.stringify((await stored(id))['push_configs'])).not.toContain('token-of-client');
  expect(rig.log.join('\n')).not.toContain('token-of-client');
  await Promise.all([first.close(), second.close()]);
  hook.close();
});

test('a server that died while it told is followed by another: the end is told', async () => {
  const hook = await openHook();
  const own = { ...served, key: 'heir' };
  const first = await rig.serve(own, { allowPrivateWebhooks: true });
  const asks = await sentTask(first.url, message('hello', withHook(hook.url)));
  await vi.waitFor(async () => expect((await stored(asks['id']))['pushed']).toBe('waiting 1'));
  await vi.waitFor(async () => expect((await stored(asks['id']))['pusher']).toBeNull());
  // As one leaves it that was killed.
  expect(await claimA2aPush(rig.session.db, asks['id'], 'a dead one', 4_000)).toBe(true);
  await sentTask(first.url, message('one', { taskId: asks['id'], configuration: { returnImmediately: true } }));
  await vi.waitFor(async () => expect((await stored(asks['id']))['pushed']).toBe('completed'), { timeout: 20_000 });
  expect(ends(hook)).toHaveLength(1);
  await first.close();
  hook.close();
});

test('an answer that comes while the question is still told: its end is told too', async () => {
  const hook = await openHook({ afterMs: 1_500, status: 200 });
  const server = await rig.serve({ ...served, key: 'quick' }, { allowPrivateWebhooks: true });
  const asks = await sentTask(server.url, message('hello', withHook(hook.url)));
  await vi.waitFor(() => expect(hook.told).toHaveLength(1));
  await sentTask(server.url, message('one', { taskId: asks['id'], configuration: { returnImmediately: true } }));
  await vi.waitFor(() => expect(ends(hook)).toHaveLength(1), { timeout: 20_000 });
  await server.close();
  hook.close();
});

test('a webhook that refuses is logged without its path and token', async () => {
  const hook = await openHook({ afterMs: 0, status: 302 });
  const server = await rig.serve({ ...served, key: 'refusing' }, { allowPrivateWebhooks: true });
  const { id } = await sentTask(server.url, message('hello', withHook(hook.url)));
  await vi.waitFor(async () => expect((await stored(id))['pushed']).toBe('waiting 1'), { timeout: 15_000 });
  await server.close();
  hook.close();
  const lines = rig.log.filter((line) => line.includes(`webhook ${new URL(hook.url).host}`));
  expect(lines.length).toBeGreaterThan(0);
  expect(lines.join('\n')).not.toMatch(/secret-path|token-of-client/);
});
