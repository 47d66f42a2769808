import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { createSuiteService } from '../../../src/server/a2a/suite-service.ts';
import { openServerRig, type ServerRig } from './support/server-rig.ts';
import { jsonRpc, type Loose, message } from './support/wire.ts';

/** Requests that are wrong on purpose. Whatever they hold, the answer is the protocol's, and the server lives. */

let rig: ServerRig;
let url: string;
let taskId: string;
beforeAll(async () => {
  rig = await openServerRig({ rules: [{ name: 'hello', reply: { content: 'hello' } }] }, { workers: 0 });
  const files = [rig.suite('one', 1), rig.suite('two', 1)];
  const served = await createSuiteService({ context: rig.context, db: rig.session.db, files });
  ({ url } = await rig.serve(served));
  const wire = jsonRpc(url);
  taskId = wire.result(await wire.call('SendMessage', message('hello')))['task'].id as string;
});
afterAll(() => rig.close());
beforeEach(() => {
  // The SDK logs every error it answers with.
  vi.spyOn(console, 'error').mockImplementation(() => undefined);
  vi.spyOn(console, 'warn').mockImplementation(() => undefined);
});

const LONG = 'x'.repeat(50_000);
const DEEP = `${'['.repeat(10_000)}${']'.repeat(10_000)}`;

/** Values that do harm where something else was expected, as they stand in a body. */
const VALUES = [
  'null',
  '-1',
  '1e400',
  '99999999999999999999',
  '0.5',
  '""',
  '"\\u0000"',
  '"\\ud800"',
  '"\\udc00\\ud800"',
  '"__proto__"',
  '"constructor"',
  '"\'; drop table a2a_task; --"',
  `"${LONG}"`,
  '[]',
  '[null]',
  '{}',
  '{"__proto__":{"admin":true}}',
  '{"toString":1,"valueOf":1,"hasOwnProperty":1}',
  '{"length":4294967295}',
  DEEP,
];

interface Place {
  /** `GET /a2a/rest/…`, or the method of JSON-RPC. */
  to: string;
  version: string;
  /** Body with `§` where the value goes. */
  body: string;
}

const PART_1 = '{"text":"hello"}';
const message1 = (more: string, parts = `[${PART_1}]`): string =>
  `{"message":{"messageId":"m","role":"ROLE_USER","parts":${parts}${more}}}`;
const message0 = (more: string, parts = '[{"kind":"text","text":"hello"}]'): string =>
  `{"message":{"kind":"message","messageId":"m","role":"user","parts":${parts}${more}}}`;

/** Bodies of a message by what is put where; the names are those of each form. */
function messageBodies(form: (more: string, parts?: string) => string, kind: string): string[] {
  return [
    '§',
    '{"message":§}',
    form(',"messageId":§'),
    form(',"role":§'),
    form(',"taskId":§'),
    form(',"contextId":§'),
    form(',"metadata":§'),
    form(',"metadata":{"a":§}'),
    form(',"extensions":§'),
    form(',"referenceTaskIds":§'),
    form(',"__proto__":§'),
    form('', '§'),
    form('', '[§]'),
    form('', `[{${kind}"text":§}]`),
    form('', `[{${kind}"text":"hello","metadata":§}]`),
    form('', `[{${kind}"text":"hello","mediaType":§,"filename":§}]`),
    form('', '[{"kind":"data","data":§}]'),
    form('', '[{"kind":"data","data":{"suite":§}}]'),
    form('', '[{"kind":"data","data":{"labels":§,"filter":§}}]'),
    form('', '[{"kind":"file","file":§}]'),
    form('', '[{"kind":§,"text":"hello"}]'),
    form('', '[{"raw":§}]'),
    form('', '[{"url":§}]'),
    form('').replace(/}$/, ',"configuration":§}'),
    form('').replace(/}$/, ',"configuration":{"historyLength":§}}'),
    form('').replace(/}$/, ',"configuration":{"acceptedOutputModes":§,"returnImmediately":§,"blocking":§}}'),
    form('').replace(/}$/, ',"configuration":{"taskPushNotificationConfig":§,"pushNotificationConfig":§}}'),
    form('').replace(/}$/, ',"configuration":{"taskPushNotificationConfig":{"url":§}}}'),
    form('').replace(/}$/, ',"metadata":§}'),
    form('').replace(/}$/, ',"tenant":§}'),
  ];
}

function places(): Place[] {
  const one = messageBodies(message1, '');
  const old = messageBodies(message0, '"kind":"text",');
  const id = JSON.stringify(taskId);
  const hook = '"url":"https://example.com/x"';
  return [
    ...one.flatMap((body) =>
      ['SendMessage', 'POST /a2a/rest/message:send'].map((to) => ({ to, version: '1.0', body })),
    ),
    ...one.slice(0, 12).map((body) => ({ to: 'SendStreamingMessage', version: '1.0', body })),
    ...['GetTask', 'CancelTask', 'SubscribeToTask'].map((to) => ({ to, version: '1.0', body: '{"id":§}' })),
    { to: 'GetTask', version: '1.0', body: `{"id":${id},"historyLength":§}` },
    ...[
      'contextId',
      'status',
      'pageSize',
      'pageToken',
      'historyLength',
      'statusTimestampAfter',
      'includeArtifacts',
    ].map((key) => ({ to: 'ListTasks', version: '1.0', body: `{${JSON.stringify(key)}:§}` })),
    ...[`{"taskId":§,${hook}}`, `{"taskId":${id},"id":§,${hook}}`, `{"taskId":${id},"url":§}`]
      .concat([`{"taskId":${id},${hook},"token":§}`, `{"taskId":${id},${hook},"authentication":§}`])
      .concat([`{"taskId":${id},${hook},"authentication":{"scheme":§,"credentials":§}}`])
      .map((body) => ({ to: 'CreateTaskPushNotificationConfig', version: '1.0', body })),
    ...['Get', 'Delete'].map((verb) => ({
      to: `${verb}TaskPushNotificationConfig`,
      version: '1.0',
      body: `{"taskId":${id},"id":§}`,
    })),
    { to: 'ListTaskPushNotificationConfigs', version: '1.0', body: '{"taskId":§,"pageSize":§,"pageToken":§}' },
    { to: 'POST /a2a/rest/tasks/nothing:cancel', version: '1.0', body: '§' },
    { to: `POST /a2a/rest/tasks/${taskId}/pushNotificationConfigs`, version: '1.0', body: `{"taskId":${id},"url":§}` },
    // 0.3
    ...old.map((body) => ({ to: 'message/send', version: '0.3', body })),
    ...old.slice(0, 12).map((body) => ({ to: 'message/stream', version: '0.3', body })),
    ...['tasks/get', 'tasks/cancel', 'tasks/resubscribe'].map((to) => ({ to, version: '0.3', body: '{"id":§}' })),
    ...['tasks/get', 'tasks/cancel'].map((to) => ({ to, version: '0.3', body: '{"other":§}' })),
    { to: 'tasks/get', version: '0.3', body: `{"id":${id},"historyLength":§}` },
    ...[`{"taskId":§,"pushNotificationConfig":{${hook}}}`, `{"taskId":${id},"pushNotificationConfig":§}`]
      .concat([`{"taskId":${id},"other":§}`, `{"other":§}`])
      .concat([`{"taskId":${id},"pushNotificationConfig":{${hook},"id":§,"token":§,"authentication":§}}`])
      .concat([`{"taskId":${id},"pushNotificationConfig":{${hook},"authentication":{"schemes":§,"credentials":§}}}`])
      .map((body) => ({ to: 'tasks/pushNotificationConfig/set', version: '0.3', body })),
    ...['get', 'list', 'delete'].map((verb) => ({
      to: `tasks/pushNotificationConfig/${verb}`,
      version: '0.3',
      body: `{"id":${id},"pushNotificationConfigId":§}`,
    })),
    ...one
      .map((body) => body.replaceAll('"parts"', '"content"'))
      .map((body) => ({ to: 'POST /a2a/rest/v1/message:send', version: '0.3', body })),
    { to: `POST /a2a/rest/v1/tasks/${taskId}/pushNotificationConfigs`, version: '0.3', body: '{"config":§}' },
    { to: 'POST /a2a/rest/v1/tasks/nothing:cancel', version: '0.3', body: '§' },
    // The oldest
    ...old.flatMap((body) =>
      ['POST /tasks/send', 'POST /tasks/nothing/cancel'].map((to) => ({ to, version: '0.3', body })),
    ),
    {
      to: 'POST /tasks/send',
      version: '0.3',
      body: '{"id":§,"sessionId":§,"message":{"parts":[{"type":§,"text":§}]}}',
    },
  ];
}

async function answerTo({ to, version, body }: Place): Promise<{ status: number; text: string }> {
  const [, verb, path] = /^(GET|POST) (\/.*)$/.exec(to) ?? [];
  const response = await fetch(`${url}${path ?? '/a2a/jsonrpc'}`, {
    method: verb ?? 'POST',
    headers: { 'content-type': 'application/json', 'a2a-version': version },
    body: path === undefined ? `{"jsonrpc":"2.0","id":1,"method":"${to}","params":${body}}` : body,
    signal: AbortSignal.timeout(3_000),
  });
  if (response.headers.get('content-type')?.startsWith('text/event-stream') === true) {
    // A subscriber of a task that waits stays; its first event is answer enough.
    const reader = response.body?.getReader();
    const first = await reader?.read();
    await reader?.cancel();
    return { status: response.status, text: Buffer.from(first?.value ?? []).toString() };
  }
  return { status: response.status, text: await response.text() };
}

/** What is wrong with an answer; null: nothing. */
function faultOf(place: Place, { status, text }: { status: number; text: string }): string | null {
  if (status >= 500) return `${status} ${text.slice(0, 200)}`;
  if (/\bat .*\.[jt]s:\d+|node_modules|invalid input syntax|relation "/.test(text))
    return `inside: ${text.slice(0, 300)}`;
  if (text === '' || text.startsWith('data: ') || text.startsWith('event: ')) return null;
  let body: Loose;
  try {
    body = JSON.parse(text) as Loose;
  } catch {
    return `no JSON: ${text.slice(0, 200)}`;
  }
  const isRpc = !/^(GET|POST) /.test(place.to);
  if (isRpc) {
    if (body['jsonrpc'] !== '2.0') return `no JSON-RPC: ${text.slice(0, 200)}`;
    const code = body['error']?.code as number | undefined;
    return code === -32_603 ? `internal error: ${text.slice(0, 200)}` : null;
  }
  if (status < 400) return null;
  const error = (body['error'] ?? body) as Loose;
  return typeof error['code'] === 'number' && typeof error['message'] === 'string'
    ? null
    : `no error: ${text.slice(0, 200)}`;
}

test(
  'values of every wrong kind at every place are answered by the protocol, never by 500',
  { timeout: 300_000 },
  async () => {
    const faults = new Map<string, string[]>();
    // A third of all pairs: each value at every third place, each place with every third value.
    const work = places().flatMap((place, index) =>
      VALUES.filter((_value, at) => (index + at) % 3 === 0).map((value) => async () => {
        const where = `${place.version} ${place.to} ${place.body.slice(0, 160)}`;
        const said = await answerTo({ ...place, body: place.body.replaceAll('§', () => value) }).then(
          (reply) => faultOf(place, reply),
          (error: unknown) => `no answer: ${String(error)}`,
        );
        if (said !== null) faults.set(where, [...(faults.get(where) ?? []), `${value.slice(0, 60)} → ${said}`]);
      }),
    );
    const lanes = Array.from({ length: 8 }, async () => {
      for (let next = work.pop(); next !== undefined; next = work.pop()) await next();
    });
    await Promise.all(lanes);
    const lines = [...faults].map(([at, all]) => `${at}\n    ${all.join('\n    ')}`);
    expect(lines.join('\n'), `${faults.size} places`).toBe('');
    expect(({} as Loose)['admin']).toBeUndefined();
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
  },
);

test('paths and queries that are wrong', async () => {
  const odd = [
    '%00',
    '%ff',
    '%',
    '%ed%a0%80',
    '__proto__',
    'constructor',
    '..%2f..%2fetc',
    LONG.slice(0, 8_000),
    '%F0%9F%98%80',
  ];
  const queries = [
    'pageSize',
    'pageToken',
    'contextId',
    'status',
    'historyLength',
    'statusTimestampAfter',
    'includeArtifacts',
  ];
  const wrong = ['-1', '1e400', '999999999999', 'x', '%00', '%ed%a0%80', '__proto__', '', '0x10', 'NaN', '1&$=2'];
  const paths = [
    ...odd.flatMap((id) => [
      `/a2a/rest/tasks/${id}`,
      `/a2a/rest/tasks/${id}:subscribe`,
      `/a2a/rest/tasks/${id}/pushNotificationConfigs`,
      `/a2a/rest/tasks/${taskId}/pushNotificationConfigs/${id}`,
      `/a2a/rest/v1/tasks/${id}`,
      `/a2a/rest/v1/tasks/${id}:subscribe`,
      `/a2a/rest/v1/tasks/${id}/pushNotificationConfigs`,
      `/a2a/rest/${id}/tasks`,
      `/tasks/${id}`,
      `/${id}`,
    ]),
    ...queries.flatMap((key) =>
      wrong.flatMap((value) => [
        `/a2a/rest/tasks?${key}=${value}`,
        `/a2a/rest/tasks?${key}=${value}&${key}=2`,
        `/a2a/rest/tasks?${key}[a]=${value}`,
      ]),
    ),
    ...wrong.flatMap((value) => [
      `/a2a/rest/tasks/${taskId}?historyLength=${value}`,
      `/a2a/rest/v1/tasks/${taskId}?historyLength=${value}`,
      `/tasks/${taskId}?historyLength=${value}`,
    ]),
  ];
  const faults: string[] = [];
  for (const path of paths) {
    for (const version of path.startsWith('/a2a/rest/tasks') ? ['1.0'] : ['0.3']) {
      const place = { to: `GET ${path}`, version, body: '' };
      const response = await fetch(`${url}${path}`, {
        headers: { 'a2a-version': version },
        signal: AbortSignal.timeout(3_000),
      });
      const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
      const text = isStream ? '' : await response.text();
      if (isStream) await response.body?.cancel();
      const fault = faultOf(place, { status: response.status, text });
      if (fault !== null) faults.push(`${path.slice(0, 120)} → ${fault}`);
    }
  }
  expect(faults.join('\n')).toBe('');
});
