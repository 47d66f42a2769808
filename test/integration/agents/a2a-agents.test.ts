import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { TaskState } from '@a2a-js/sdk';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { workflowIdOf } from '../../../src/commands/run/start-evaluation.ts';
import { notifyCancel } from '../../../src/db/evaluations.ts';
import { type Behaviour, type Remote, startRemote } from '../../unit/agents/a2a/remote-agent-fixture.ts';
import { echoCases, openRig, type Rig } from '../workflows/support/rig.ts';
import { loadTrials, trialsByStatus } from '../workflows/support/reads.ts';

const NOWHERE = { url: 'http://127.0.0.1:1/v1' };
const { TASK_STATE_WORKING: WORKING, TASK_STATE_COMPLETED: COMPLETED, TASK_STATE_FAILED: FAILED } = TaskState;

let rig: Rig;
let remote: Remote;
beforeAll(async () => {
  rig = await openRig({ env: {} });
});
afterAll(() => rig.close());
beforeEach(() => {
  // The SDK's server logs errors it answers with.
  vi.spyOn(console, 'error').mockImplementation(() => undefined);
});
afterEach(async () => {
  vi.restoreAllMocks();
  await remote.close();
});

const suiteOf = (more: Record<string, unknown> = {}): Record<string, unknown> => ({
  agent: { type: 'a2a', card_url: remote.url, poll_interval_ms: 50, patience_ms: 5_000, ...more },
  retry: { backoff_ms: 5, model_failures: 2 },
});

function numberIn(said: unknown): number {
  return Number(/\d+/.exec(typeof said === 'string' ? said : '')?.[0]);
}

test('R7, R10: an agent that fails, hangs or restarts in the middle costs no other trial anything', async () => {
  const restarted = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  const behaviour: Behaviour = async (say, { userMessage }) => {
    const n = numberIn(userMessage.parts[0]?.content?.value);
    say.status(WORKING, 'on it');
    if (n === 1) return say.status(FAILED, 'no such order');
    if (n === 2) await delay(60_000, undefined, { ref: false });
    if (n === 3) {
      held.resolve();
      await restarted.promise;
    }
    say.status(COMPLETED, `echo ${n}.`);
  };
  remote = await startRemote({ behaviour });
  const id = await rig.run(NOWHERE, {
    cases: echoCases(6).map((one, index) => (index === 2 ? { ...one, timeout_ms: 1_500 } : one)),
    suite: suiteOf(),
  });
  await held.promise;
  await remote.stop();
  await delay(200);
  await remote.start();
  restarted.resolve();
  expect((await rig.ended(id)).status).toBe('completed');
  const trials = await loadTrials(rig.db, id);
  expect(trials.map(({ status, final_status }) => [status, final_status])).toEqual([
    ['passed', 'COMPLETED'],
    ['failed', 'FAILED'],
    ['failed', 'TIMEOUT'],
    ['passed', 'COMPLETED'],
    ['passed', 'COMPLETED'],
    ['passed', 'COMPLETED'],
  ]);
});

test('R8: nobody at the card stops the evaluation with one message', async () => {
  remote = await startRemote({ behaviour: () => undefined });
  await remote.stop();
  const row = await rig.evaluate(NOWHERE, { cases: echoCases(3), suite: suiteOf() });
  expect(row).toMatchObject({ status: 'stopped', stop_kind: 'endpoint_unreachable', exit_code: 4 });
});

/** A server that answers everything with a status; `null`: nobody is there. */
/** @param answer status, or the media type of a page; null = nobody listens */
async function badAddress(
  answer: number | string | null,
): Promise<{ url: string; requests: () => number; close: () => void }> {
  let requests = 0;
  const server = createServer((_, response) => {
    requests += 1;
    const moved = typeof answer === 'number' && answer >= 300 && answer < 400;
    const headers = moved ? { location: '/elsewhere?key=secret' } : {};
    if (typeof answer === 'string') response.writeHead(200, { 'content-type': answer }).end('<html>hi</html>');
    else response.writeHead(answer ?? 200, headers).end('no');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/rpc`;
  if (answer === null) await new Promise((resolve) => server.close(resolve));
  return { url, requests: () => requests, close: () => server.close() };
}

test.each([
  [404, 'endpoint_unreachable'],
  [401, 'unauthorized'],
  [403, 'forbidden'],
  [302, 'endpoint_unreachable'],
  [null, 'endpoint_unreachable'],
])(
  'R8: a card that leads to an address that answers %s stops the evaluation with one message',
  async (status, kind) => {
    const bad = await badAddress(status);
    remote = await startRemote({ behaviour: () => undefined, cardUrl: bad.url });
    const row = await rig.evaluate(NOWHERE, {
      cases: echoCases(10),
      suite: { ...suiteOf({ allow_private: true }), concurrency: 5 },
    });
    bad.close();
    expect(row).toMatchObject({ status: 'stopped', stop_kind: kind, exit_code: 4 });
    expect(await trialsByStatus(rig.db, row.id)).not.toHaveProperty('errored');
    expect(bad.requests()).toBe(status === null ? 0 : 1);
  },
);

test.each([
  [404, 'endpoint_unreachable'],
  [401, 'unauthorized'],
  [null, 'endpoint_unreachable'],
])('R8: so does a remote agent as a tool whose address answers %s', async (status, kind) => {
  const bad = await badAddress(status);
  remote = await startRemote({ behaviour: () => undefined, cardUrl: bad.url });
  const model = await rig.model({
    model: 'scripted-1',
    rules: [{ when: {}, reply: { tool_calls: [{ name: 'ask', arguments: { message: 'hi' } }] }, allow_repeat: true }],
  });
  const a2a = { card_url: remote.url, allow_private: true };
  const row = await rig.evaluate(model, {
    cases: echoCases(5),
    suite: { tools: [{ name: 'ask', a2a }], retry: { backoff_ms: 5, model_failures: 2 } },
  });
  bad.close();
  expect(row).toMatchObject({ status: 'stopped', stop_kind: kind, exit_code: 4 });
  expect(await trialsByStatus(rig.db, row.id)).not.toHaveProperty('errored');
});

test.each([
  [404, 'endpoint_unreachable', 'Check mcp[0].url'],
  [405, 'endpoint_unreachable', 'Check mcp[0].url'],
  [301, 'endpoint_unreachable', 'Check mcp[0].url'],
  ['text/html; charset=utf-8', 'endpoint_unreachable', 'Check mcp[0].url'],
  [401, 'unauthorized', 'mcp[0].token_env'],
  [403, 'forbidden', 'mcp[0].token_env'],
])('R8: so does an MCP server that answers %s, after one trial', async (status, kind, remedy) => {
  const bad = await badAddress(status);
  const model = await rig.model({ model: 'scripted-1', rules: [{ when: {}, reply: { content: 'hi' } }] });
  const row = await rig.evaluate(model, {
    cases: echoCases(20),
    suite: { mcp: [{ name: 'orders', url: bad.url }], concurrency: 5, retry: { backoff_ms: 5, model_failures: 2 } },
  });
  bad.close();
  expect(row).toMatchObject({ status: 'stopped', stop_kind: kind, exit_code: 4 });
  expect(row.stop_message).toContain(bad.url);
  expect(row.stop_message).toContain(remedy);
  expect(await trialsByStatus(rig.db, row.id)).not.toHaveProperty('errored');
  // The handshake of one trial, in both versions of the protocol.
  expect(bad.requests()).toBeLessThanOrEqual(2);
});

test('R8: so does an MCP server nobody listens at, with its address and what to do', async () => {
  const bad = await badAddress(null);
  const model = await rig.model({ model: 'scripted-1', rules: [{ when: {}, reply: { content: 'hi' } }] });
  const row = await rig.evaluate(model, {
    cases: echoCases(5),
    suite: { mcp: [{ name: 'orders', url: bad.url }], retry: { backoff_ms: 5, model_failures: 2 } },
  });
  expect(row).toMatchObject({ status: 'stopped', stop_kind: 'endpoint_unreachable', exit_code: 4 });
  expect(row.stop_message).toContain(bad.url);
  expect(row.stop_message).toContain('mcp[0].url');
});

test('R7: an agent that forgets its tasks when it restarts does them again, and no trial is lost', async () => {
  const first = Promise.withResolvers<void>();
  let restarted = false;
  remote = await startRemote({
    behaviour: async (say, { userMessage }) => {
      const n = numberIn(userMessage.parts[0]?.content?.value);
      say.status(WORKING, 'on it');
      if (!restarted) {
        first.resolve();
        await delay(60_000, undefined, { ref: false });
      }
      say.status(COMPLETED, `echo ${n}.`);
    },
  });
  const id = await rig.run(NOWHERE, { cases: echoCases(3), suite: suiteOf() });
  await first.promise;
  await delay(200);
  await remote.stop();
  restarted = true;
  await remote.start({ forget: true });
  expect((await rig.ended(id)).status).toBe('completed');
  expect(await trialsByStatus(rig.db, id)).toEqual({ passed: 3 });
});

test('a card that leads to a private address stops the evaluation before anything is sent there', async () => {
  remote = await startRemote({ behaviour: () => undefined, cardUrl: 'http://[::ffff:169.254.169.254]/rpc' });
  const row = await rig.evaluate(NOWHERE, { cases: echoCases(3), suite: suiteOf() });
  expect(row).toMatchObject({ status: 'stopped', stop_kind: 'invalid_setup', exit_code: 2 });
  expect(row.stop_message).toMatch(/private, link-local or reserved/);
  expect(remote.messages).toEqual([]);
});

test.each(['stream', 'poll'])(
  'cancel reaches the remote agent within a second, as its own log shows (%s)',
  async (mode) => {
    const arrived = Promise.withResolvers<void>();
    remote = await startRemote({
      behaviour: async (say) => {
        say.status(WORKING);
        arrived.resolve();
        await delay(60_000, undefined, { ref: false });
      },
    });
    const id = await rig.run(NOWHERE, { cases: echoCases(1), suite: suiteOf({ mode }) });
    await arrived.promise;
    // The reply that names the task is on its way.
    await delay(100);
    const at = performance.now();
    await rig.client.workflow.getHandle(workflowIdOf(id)).cancel();
    await notifyCancel(rig.db, id);
    await vi.waitFor(() => expect(remote.canceled).toHaveLength(1), { timeout: 5_000, interval: 10 });
    expect(performance.now() - at).toBeLessThan(1_000);
    expect((await rig.ended(id)).status).toBe('canceled');
  },
);
