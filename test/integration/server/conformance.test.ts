import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { createSuiteService } from '../../../src/server/a2a/suite-service.ts';
import { openServerRig, type ServerRig } from './support/server-rig.ts';
import { jsonRpc, message, type Reply, rest, type Wire, type Loose } from './support/wire.ts';

/** The names of these tests are those that support/kit-table.ts maps the official kit's tests to. */

let rig: ServerRig;
let url: string;
beforeAll(async () => {
  rig = await openServerRig({ rules: [{ name: 'hello', reply: { content: 'hello' } }], delay_ms: 200 });
  const files = [rig.suite('one', 1), rig.suite('many', 60, 'concurrency: 2\n')];
  const served = await createSuiteService({ context: rig.context, db: rig.session.db, files });
  ({ url } = await rig.serve(served, { allowPrivateWebhooks: true }));
});
afterAll(() => rig.close());
beforeEach(() => {
  // The SDK logs every error it answers with.
  vi.spyOn(console, 'error').mockImplementation(() => undefined);
  vi.spyOn(console, 'warn').mockImplementation(() => undefined);
});

const wires = [(): Wire => jsonRpc(url), (): Wire => rest(url)].map((open, index) => ({
  name: index === 0 ? 'JSON-RPC' : 'HTTP+JSON',
  open,
}));

async function sent(wire: Wire, params: Loose): Promise<Loose> {
  const reply = await wire.call('SendMessage', params);
  expect(reply.status, JSON.stringify(reply.body)).toBe(200);
  return wire.result(reply)['task'] as Loose;
}

const completed = (wire: Wire): Promise<Loose> => sent(wire, message('run one'));
const waiting = (wire: Wire): Promise<Loose> => sent(wire, message('hello'));

/** Code on the wire, status of HTTP+JSON, and name of an error. */
function expectError(wire: Wire, reply: Reply, error: { code: number; status: number; reason: string }): void {
  expect(wire.reason(reply)).toBe(error.reason);
  if (wire.name === 'JSON-RPC') {
    expect(reply.body).toMatchObject({ jsonrpc: '2.0', id: 'r1', error: { code: error.code } });
    expect(typeof reply.body['error'].message).toBe('string');
    expect(reply.body['error'].data[0]).toMatchObject({
      '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
      domain: 'a2a-protocol.org',
    });
  } else {
    expect(reply.status).toBe(error.status);
    expect(reply.body['error']).toMatchObject({ code: error.status });
    expect(reply.headers.get('content-type')).toMatch(/^application\/json/);
    expect(reply.body['error'].details[0]).toMatchObject({
      '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
      domain: 'a2a-protocol.org',
    });
  }
}

const NOT_FOUND = { code: -32001, status: 404, reason: 'TASK_NOT_FOUND' };
const NOT_CANCELABLE = { code: -32002, status: 409, reason: 'TASK_NOT_CANCELABLE' };
const UNSUPPORTED = { code: -32004, status: 400, reason: 'UNSUPPORTED_OPERATION' };
const CONTENT_TYPE = { code: -32005, status: 415, reason: 'CONTENT_TYPE_NOT_SUPPORTED' };
const VERSION = { code: -32009, status: 400, reason: 'VERSION_NOT_SUPPORTED' };

describe('card', () => {
  test('card: of 1.0 at its path, strict, with interfaces of all transports and versions', async () => {
    const response = await fetch(`${url}/.well-known/agent-card.json`);
    expect(response.headers.get('content-type')).toMatch(/^application\/json/);
    expect(response.headers.get('etag')).not.toBeNull();
    const card = (await response.json()) as Loose;
    expect(Object.keys(card).sort()).toEqual(
      'capabilities defaultInputModes defaultOutputModes description name skills supportedInterfaces version'.split(
        ' ',
      ),
    );
    const interfaces = card['supportedInterfaces'].map((one: Loose) => `${one.protocolBinding} ${one.protocolVersion}`);
    expect(interfaces).toEqual(['JSONRPC 1.0', 'HTTP+JSON 1.0', 'JSONRPC 0.3', 'HTTP+JSON 0.3']);
    expect(card['skills'].map((skill: Loose) => skill.id)).toEqual(['one', 'many']);
    expect(card['capabilities']).toEqual({ streaming: true, pushNotifications: true, extendedAgentCard: false });
  });

  test('card: of 0.3 for who asks for it, and at the older path', async () => {
    const asked = await fetch(`${url}/.well-known/agent-card.json`, { headers: { 'A2A-Version': '0.3' } });
    const older = await fetch(`${url}/.well-known/agent.json`);
    const card = (await asked.json()) as Loose;
    expect(card).toMatchObject({ protocolVersion: '0.3', url: `${url}/a2a/jsonrpc`, preferredTransport: 'JSONRPC' });
    for (const key of ['name', 'description', 'version', 'url']) expect(typeof card[key], key).toBe('string');
    for (const key of ['skills', 'defaultInputModes', 'defaultOutputModes'])
      expect(Array.isArray(card[key]), key).toBe(true);
    expect(await older.json()).toEqual(card);
  });

  test.each(wires)('extended card: there is none, and that is said ($name)', async ({ open }) => {
    const wire = open();
    expectError(wire, await wire.call('GetExtendedAgentCard'), UNSUPPORTED);
  });
});

describe.each(wires)('$name', ({ open }) => {
  test('send: a blocking message returns the task at its end, with its artifacts', async () => {
    const wire = open();
    const reply = await wire.call('SendMessage', message('run one'));
    expect(reply.headers.get('content-type')).toMatch(/^application\/json/);
    const task = wire.result(reply)['task'] as Loose;
    expect(task['status']).toMatchObject({ state: 'TASK_STATE_COMPLETED', message: { role: 'ROLE_AGENT' } });
    expect(task['status'].timestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z$/);
    expect(typeof task['id']).toBe('string');
    expect(typeof task['contextId']).toBe('string');
    expect(task['history'][0]).toMatchObject({ role: 'ROLE_USER', taskId: task['id'], contextId: task['contextId'] });
    expect(task['artifacts'].map((artifact: Loose) => artifact.artifactId)).toEqual(['report.txt', 'report.json']);
    expect(task['artifacts'][0].parts).toHaveLength(1);
    expect(Object.keys(task['artifacts'][0].parts[0]).sort()).toEqual(['mediaType', 'text']);
    expect(task['artifacts'][1].parts[0].data.evaluation.suite).toBe('one');
    const { artifacts: _artifacts, ...rest } = task;
    expect(JSON.stringify(rest)).not.toMatch(/"[a-z]+_[a-z_]+":/);
  });

  test('send: a message that must not block returns at once', async () => {
    const wire = open();
    const task = await sent(wire, message('run one', { configuration: { returnImmediately: true } }));
    expect(['TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING']).toContain(task['status'].state);
    await vi.waitFor(
      async () => {
        const now = wire.result(await wire.call('GetTask', { id: task['id'] }));
        expect(now['status'].state).toBe('TASK_STATE_COMPLETED');
      },
      { timeout: 10_000, interval: 100 },
    );
  });

  test('send: a question is answered with a message, without a task', async () => {
    const wire = open();
    const result = wire.result(await wire.call('SendMessage', message('help')));
    expect(result['task']).toBeUndefined();
    expect(result['message']).toMatchObject({ role: 'ROLE_AGENT' });
    expect(result['message'].parts[0].text).toContain('- many (deep, 60 cases)');
  });

  test('send: a media type that is not supported', async () => {
    const wire = open();
    const file = { raw: 'aGk=', mediaType: 'application/x-unsupported' };
    expectError(wire, await wire.call('SendMessage', message([file])), CONTENT_TYPE);
    const text = await wire.call('SendMessage', message([{ raw: 'aGk=', mediaType: 'text/plain' }]));
    expectError(wire, text, CONTENT_TYPE);
    expect(text.body['error'].message).toContain('A file (text/plain) is not supported');
  });

  test('send: requests that say nothing usable', async () => {
    const wire = open();
    for (const bad of [{}, { message: { role: 'ROLE_USER', parts: [{ text: 'x' }] } }, message([])]) {
      const reply = await wire.call('SendMessage', bad);
      if (wire.name === 'JSON-RPC') expect(reply.body['error'].code).toBe(-32602);
      else expect(reply.status).toBe(400);
    }
    const unknown = await wire.call('SendMessage', message([{ data: { suite: 'one', trails: 3 } }]));
    expect(JSON.stringify(unknown.body)).toContain('unknown key \\"trails\\"');
  });

  test('context: generated, kept, the same for a task; a mismatch is refused', async () => {
    const wire = open();
    const first = await waiting(wire);
    expect(first['contextId']).not.toBe('');
    const own = await sent(wire, message('hello', { contextId: 'context-of-a-client' }));
    expect(own['contextId']).toBe('context-of-a-client');
    const second = await waiting(wire);
    expect(second['id']).not.toBe(first['id']);
    const mismatch = await wire.call('SendMessage', message('one', { taskId: first['id'], contextId: 'another' }));
    expect(mismatch.status === 400 || mismatch.body['error'].code === -32602).toBe(true);
    const inferred = await sent(wire, message('still no suite', { taskId: first['id'] }));
    expect(inferred['contextId']).toBe(first['contextId']);
  });

  test('turns: a task that waits goes on with the answer, its history kept', async () => {
    const wire = open();
    const task = await waiting(wire);
    expect(task['status'].state).toBe('TASK_STATE_INPUT_REQUIRED');
    expect(task['status'].message.parts[0].text).toContain('Which suite? One of: one, many.');
    const done = await sent(wire, message('one', { taskId: task['id'] }));
    expect(done).toMatchObject({ id: task['id'], status: { state: 'TASK_STATE_COMPLETED' } });
    expect(done['history'].map((one: Loose) => `${one.role} ${one.parts[0].text.slice(0, 11)}`)).toEqual([
      'ROLE_USER hello',
      'ROLE_AGENT Which suite',
      'ROLE_USER one',
    ]);
    const short = await wire.call('GetTask', { id: task['id'], historyLength: 1 });
    expect(wire.result(short)['history']).toHaveLength(1);
    const none = await wire.call('GetTask', { id: task['id'], historyLength: 0 });
    expect(wire.result(none)['history'] ?? []).toEqual([]);
  });

  test('ended: a task that ended takes no message, no cancel and no subscriber', async () => {
    const wire = open();
    const { id } = await completed(wire);
    expectError(wire, await wire.call('SendMessage', message('again', { taskId: id })), UNSUPPORTED);
    expectError(wire, await wire.call('CancelTask', { id }), NOT_CANCELABLE);
    expectError(wire, (await wire.stream('SubscribeToTask', { id })).reply, UNSUPPORTED);
  });

  test('unknown: a task that is not there', async () => {
    const wire = open();
    expectError(wire, await wire.call('GetTask', { id: 'nothing' }), NOT_FOUND);
    expectError(wire, await wire.call('CancelTask', { id: 'nothing' }), NOT_FOUND);
    expectError(wire, await wire.call('SendMessage', message('x', { taskId: 'nothing' })), NOT_FOUND);
    expectError(wire, (await wire.stream('SubscribeToTask', { id: 'nothing' })).reply, NOT_FOUND);
  });

  test('cancel: a task that waits, and one that works', async () => {
    const wire = open();
    const idle = await waiting(wire);
    const canceled = wire.result(await wire.call('CancelTask', { id: idle['id'] }));
    expect(canceled).toMatchObject({ id: idle['id'], status: { state: 'TASK_STATE_CANCELED' } });
    expectError(wire, await wire.call('CancelTask', { id: idle['id'] }), NOT_CANCELABLE);
    const busy = await sent(wire, message('run many', { configuration: { returnImmediately: true } }));
    const ended = wire.result(await wire.call('CancelTask', { id: busy['id'] }));
    expect(ended['status'].state).toBe('TASK_STATE_CANCELED');
    const status = await rig.rig.db
      .selectFrom('evaluation')
      .select('status')
      .where('id', '=', busy['metadata'].evaluationId)
      .executeTakeFirst();
    expect(status).toEqual({ status: 'canceled' });
  });

  test('stream: the task first, then each status, the artifacts before the last', async () => {
    const wire = open();
    const { reply, events } = await wire.stream(
      'SendStreamingMessage',
      message([{ data: { suite: 'many', limit: 4 } }]),
    );
    expect(reply.headers.get('content-type')).toMatch(/^text\/event-stream/);
    expect(Object.keys(events[0] ?? {})).toEqual(['task']);
    const states = events.map((event) => (event['statusUpdate'] ?? event['task'])?.status?.state as string | undefined);
    expect(states.at(-1)).toBe('TASK_STATE_COMPLETED');
    expect(states.filter((state) => state === 'TASK_STATE_COMPLETED')).toHaveLength(1);
    expect(events.slice(-3).map((event) => Object.keys(event)[0])).toEqual([
      'artifactUpdate',
      'artifactUpdate',
      'statusUpdate',
    ]);
    expect(
      events.some((event) => /\d of 4 trials ended/.test(event['statusUpdate']?.status?.message?.parts[0].text)),
    ).toBe(true);
  });

  test('stream: a message in place of a task is the only event', async () => {
    const { events } = await open().stream('SendStreamingMessage', message('help'));
    expect(events.map((event) => Object.keys(event))).toEqual([['message']]);
  });

  test('subscribe: the task first, then the same for every subscriber, to its end', async () => {
    const wire = open();
    const { id } = await waiting(wire);
    const both = [wire.stream('SubscribeToTask', { id }), wire.stream('SubscribeToTask', { id })];
    await new Promise((resolve) => setTimeout(resolve, 300));
    await sent(wire, message('one', { taskId: id }));
    const [first, second] = await Promise.all(both);
    expect(Object.keys(first?.events[0] ?? {})).toEqual(['task']);
    expect(first?.events.at(-1)?.['statusUpdate'].status.state).toBe('TASK_STATE_COMPLETED');
    const shape = (events: Loose[] | undefined): unknown[] =>
      (events ?? []).map(
        (event) => event['artifactUpdate']?.artifact.artifactId ?? event['statusUpdate']?.status.state,
      );
    expect(shape(second?.events).slice(-3)).toEqual(shape(first?.events).slice(-3));
  });

  test('subscribe: one that leaves ends nothing for the others', async () => {
    const wire = open();
    const { id } = await waiting(wire);
    const stays = wire.stream('SubscribeToTask', { id });
    const left = await wire.stream('SubscribeToTask', { id }, 1);
    expect(left.events.map((event) => Object.keys(event))).toEqual([['task']]);
    await sent(wire, message('one', { taskId: id }));
    expect((await stays).events.at(-1)?.['statusUpdate'].status.state).toBe('TASK_STATE_COMPLETED');
  });

  test('list: by context and status, newest change first, in pages', async () => {
    const wire = open();
    const contextId = `list-${wire.name}`;
    const ids: string[] = [];
    for (let index = 0; index < 3; index += 1) ids.unshift((await sent(wire, message('hello', { contextId })))['id']);
    const all = wire.result(await wire.call('ListTasks', { contextId }));
    expect(all).toMatchObject({ totalSize: 3, pageSize: 50, nextPageToken: '' });
    expect(all['tasks'].map((task: Loose) => task.id)).toEqual(ids);
    const page = wire.result(await wire.call('ListTasks', { contextId, pageSize: 2 }));
    expect(page['tasks'].map((task: Loose) => task.id)).toEqual(ids.slice(0, 2));
    const next = wire.result(
      await wire.call('ListTasks', { contextId, pageSize: 2, pageToken: page['nextPageToken'] }),
    );
    expect(next['tasks'].map((task: Loose) => task.id)).toEqual(ids.slice(2));
    expect(next['nextPageToken']).toBe('');
    const done = wire.result(await wire.call('ListTasks', { contextId, status: 'TASK_STATE_COMPLETED' }));
    expect(done['tasks'] ?? []).toEqual([]);
    const bad = await wire.call('ListTasks', { contextId, pageSize: 1_000 });
    expect(bad.status === 400 || bad.body['error'].code === -32602).toBe(true);
  });

  test('list: artifacts only when asked for', async () => {
    const wire = open();
    const { contextId } = await completed(wire);
    const [without] = wire.result(await wire.call('ListTasks', { contextId }))['tasks'];
    expect(without.artifacts ?? []).toEqual([]);
    const [withThem] = wire.result(await wire.call('ListTasks', { contextId, includeArtifacts: true }))['tasks'];
    expect(withThem.artifacts).toHaveLength(2);
  });

  test('version: another one is refused by name; a patch version is not looked at', async () => {
    const wire = open();
    expectError(wire, await wire.call('GetTask', { id: 'x' }, { 'a2a-version': '99.0' }), VERSION);
  });

  test('extensions: a header that names unknown ones is no error', async () => {
    const reply = await open().call('SendMessage', message('help'), { 'a2a-extensions': 'urn:nothing' });
    expect(reply.status).toBe(200);
  });

  test('push: configurations are made, read, listed and removed', async () => {
    const wire = open();
    const { id: taskId } = await waiting(wire);
    const config = { taskId, id: 'c1', url: 'http://127.0.0.1:1/hook', token: 't' };
    const made = wire.result(await wire.call('CreateTaskPushNotificationConfig', config));
    expect(made).toMatchObject({ id: 'c1', url: config.url });
    const read = wire.result(await wire.call('GetTaskPushNotificationConfig', { taskId, id: 'c1' }));
    expect(read).toMatchObject({ id: 'c1', taskId });
    const listed = wire.result(await wire.call('ListTaskPushNotificationConfigs', { taskId }));
    expect(listed['configs']).toHaveLength(1);
    expectError(wire, await wire.call('GetTaskPushNotificationConfig', { taskId, id: 'nothing' }), NOT_FOUND);
    for (const _again of [1, 2]) {
      const removed = await wire.call('DeleteTaskPushNotificationConfig', { taskId, id: 'c1' });
      expect(removed.status).toBeLessThan(300);
    }
    const after = wire.result(await wire.call('ListTaskPushNotificationConfigs', { taskId }));
    expect(after['configs'] ?? []).toEqual([]);
    const bad = await wire.call('CreateTaskPushNotificationConfig', { ...config, url: 'ftp://x' });
    expect(bad.status === 400 || bad.body['error'].code === -32602).toBe(true);
  });

  test('push: each change is told to the webhook, with its credentials, to the end', async () => {
    const wire = open();
    const told: { headers: IncomingMessage['headers']; body: Loose }[] = [];
    const hook = createServer((req, res) => {
      let text = '';
      req.on('data', (chunk: Buffer) => (text += chunk.toString()));
      req.on('end', () => {
        told.push({ headers: req.headers, body: JSON.parse(text) as Loose });
        res.end();
      });
    });
    await new Promise<void>((resolve) => hook.listen(0, '127.0.0.1', resolve));
    const taskPushNotificationConfig = {
      url: `http://127.0.0.1:${(hook.address() as AddressInfo).port}/hook`,
      token: 'mine',
      authentication: { scheme: 'Bearer', credentials: 'secret' },
    };
    await sent(wire, message('run one', { configuration: { taskPushNotificationConfig } }));
    const last = (): string => told.at(-1)?.body['statusUpdate']?.status.state as string;
    await vi.waitFor(() => expect(last()).toBe('TASK_STATE_COMPLETED'), { timeout: 5_000 });
    hook.close();
    expect(told.every(({ headers }) => headers.authorization === 'Bearer secret')).toBe(true);
    expect(told.every(({ headers }) => headers['x-a2a-notification-token'] === 'mine')).toBe(true);
    expect(told.map(({ body }) => Object.keys(body)[0])).toContain('artifactUpdate');
  });
});

describe('JSON-RPC envelope', () => {
  const raw = (body: string, headers: Record<string, string> = {}, path = '/a2a/jsonrpc'): Promise<Loose> =>
    fetch(`${url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'a2a-version': '1.0', ...headers },
      body,
    }).then((response) => response.json() as Promise<Loose>);

  test.each([
    ['not JSON', '{"jsonrpc":', -32700],
    ['no jsonrpc', '{"id":1,"method":"GetTask","params":{"id":"x"}}', -32600],
    ['another jsonrpc', '{"jsonrpc":"1.0","id":1,"method":"GetTask","params":{"id":"x"}}', -32600],
    ['no method', '{"jsonrpc":"2.0","id":1,"params":{}}', -32600],
    ['an object as id', '{"jsonrpc":"2.0","id":{},"method":"GetTask","params":{"id":"x"}}', -32600],
    ['an unknown method', '{"jsonrpc":"2.0","id":1,"method":"DoNothing","params":{}}', -32601],
    ['params that are a text', '{"jsonrpc":"2.0","id":1,"method":"GetTask","params":"x"}', -32602],
  ])('envelope: %s', async (_what, body, code) => {
    expect((await raw(body))['error']).toMatchObject({ code });
    // Of 0.3 likewise, also at the root where older clients send.
    const old = body.replace('GetTask', 'tasks/get');
    expect((await raw(old, { 'a2a-version': '0.3' }, '/'))['error']).toMatchObject({ code });
  });

  test('envelope: another content type', async () => {
    expect((await raw('x', { 'content-type': 'text/plain' }))['error'].code).toBe(-32005);
    const response = await fetch(`${url}/a2a/rest/message:send`, { method: 'POST', body: 'x' });
    expect(response.status).toBe(415);
  });

  test('envelope: two requests of one id are two requests', async () => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'GetTask', params: { id: 'x' } });
    const replies = await Promise.all([raw(body), raw(body)]);
    expect(replies.map((reply) => reply['id'])).toEqual([7, 7]);
  });
});

describe('protocol 0.3', () => {
  const call = async (method: string, params: unknown): Promise<Loose> => {
    const response = await fetch(`${url}/a2a/jsonrpc`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
    return (await response.json()) as Loose;
  };
  const say = (text: string, more = {}): object => ({
    message: {
      kind: 'message',
      messageId: crypto.randomUUID(),
      role: 'user',
      parts: [{ kind: 'text', text }],
      ...more,
    },
  });

  test('0.3: message/send, tasks/get, tasks/cancel and history over JSON-RPC', async () => {
    const { result: task } = await call('message/send', say('hello'));
    expect(task).toMatchObject({ kind: 'task', status: { state: 'input-required' } });
    const { result: on } = await call('message/send', say('no suite', { taskId: task.id }));
    expect(on).toMatchObject({ id: task.id, status: { state: 'input-required' } });
    const { result: got } = await call('tasks/get', { id: task.id, historyLength: 1 });
    expect(got.history).toHaveLength(1);
    const { result: canceled } = await call('tasks/cancel', { id: task.id });
    expect(canceled.status.state).toBe('canceled');
    expect((await call('tasks/get', { id: 'nothing' }))['error'].code).toBe(-32001);
    expect((await call('tasks/cancel', { id: 'nothing' }))['error'].code).toBe(-32001);
    expect((await call('message/send', {}))['error'].code).toBe(-32602);
    const card = await call('agent/getAuthenticatedExtendedCard', {});
    expect(card['error'].code).toBeLessThan(-32000);
  });

  test('version: an empty one is 0.3', async () => {
    const response = await fetch(`${url}/a2a/jsonrpc`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'a2a-version': '' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'message/send', params: say('hello') }),
    });
    expect(((await response.json()) as Loose)['result']).toMatchObject({ kind: 'task' });
  });

  test('0.3: push configurations with and without an id', async () => {
    const { result: task } = await call('message/send', say('hello'));
    const set = (config: object): Promise<Loose> =>
      call('tasks/pushNotificationConfig/set', { taskId: task.id, pushNotificationConfig: config });
    const get = (more: object): Promise<Loose> => call('tasks/pushNotificationConfig/get', { id: task.id, ...more });
    expect((await get({}))['error'].code).toBe(-32001);
    await set({ url: 'https://example.com/one' });
    await set({ url: 'https://example.com/two' });
    expect((await get({})).result.pushNotificationConfig).toMatchObject({ url: 'https://example.com/two' });
    await set({ id: 'mine', url: 'https://example.com/three' });
    const { result: mine } = await get({ pushNotificationConfigId: 'mine' });
    expect(mine.pushNotificationConfig.url).toBe('https://example.com/three');
    const { result: all } = await call('tasks/pushNotificationConfig/list', { id: task.id });
    expect(all.map((one: Loose) => one.pushNotificationConfig.id)).toEqual(['default', 'mine']);
  });

  test('0.3: HTTP+JSON under /v1', async () => {
    const body = { message: { messageId: 'v1', role: 'ROLE_USER', content: [{ text: 'hello' }] } };
    const response = await fetch(`${url}/a2a/rest/v1/message:send`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect(response.status).toBe(201);
    const { task } = (await response.json()) as Loose;
    const got = await fetch(`${url}/a2a/rest/v1/tasks/${task.id}`);
    expect(await got.json()).toMatchObject({ id: task.id });
  });

  test('0.3: HTTP+JSON, a message in a context: a task of its own, or the one it names; another context is refused', async () => {
    const send = async (more: object): Promise<{ status: number; task: Loose }> => {
      const body = {
        message: { message_id: crypto.randomUUID(), role: 'ROLE_USER', content: [{ text: 'hi' }], ...more },
      };
      const response = await fetch(`${url}/a2a/rest/v1/message:send`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      return { status: response.status, task: ((await response.json()) as Loose)['task'] };
    };
    const { task } = await send({ contextId: 'rest-context' });
    expect(task).toMatchObject({ contextId: 'rest-context' });
    const other = await send({ context_id: 'rest-context' });
    expect(other.task).toMatchObject({ contextId: 'rest-context' });
    expect(other.task.id).not.toBe(task.id);
    for (const place of [
      { taskId: task.id, contextId: 'rest-context' },
      { task_id: task.id, context_id: 'rest-context' },
    ]) {
      expect(await send(place)).toMatchObject({ status: 201, task: { id: task.id, contextId: 'rest-context' } });
    }
    expect((await send({ task_id: task.id, context_id: 'another' })).status).toBe(400);
  });

  test('the oldest paths: tasks/send, tasks/{id}, tasks/sendSubscribe', async () => {
    const post = (path: string, body: object): Promise<Response> =>
      fetch(`${url}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    const words = (text: string): object => ({ message: { role: 'user', parts: [{ type: 'text', text }] } });
    const made = await post('/tasks/send', { ...words('run one'), sessionId: 'session-1' });
    const task = (await made.json()) as Loose;
    expect(task).toMatchObject({ sessionId: 'session-1', contextId: 'session-1' });
    await vi.waitFor(
      async () => {
        const got = (await (await fetch(`${url}/tasks/${task['id']}`)).json()) as Loose;
        expect(got['status'].state).toBe('completed');
      },
      { timeout: 10_000, interval: 100 },
    );
    const envelope = { jsonrpc: '2.0', id: 3, method: 'tasks/send', params: words('hello') };
    expect(await (await post('/tasks/send', envelope)).json()).toMatchObject({
      jsonrpc: '2.0',
      id: 3,
      result: { status: { state: 'input-required' } },
    });
    const stream = await post('/tasks/sendSubscribe', words('run one'));
    expect(stream.headers.get('content-type')).toMatch(/^text\/event-stream/);
    expect(await stream.text()).toContain('"state":"completed"');
    expect((await fetch(`${url}/tasks/nothing`)).status).toBe(404);
    expect((await post('/tasks/send', {})).status).toBe(400);
    expect((await post(`/tasks/${task['id']}/cancel`, {})).status).toBe(409);
  });
});
