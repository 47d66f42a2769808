import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { createA2aAgent } from '../../../src/agents/a2a/a2a-agent.ts';
import { sleep } from '../../../src/agents/sleep.ts';
import { insertA2aTask } from '../../../src/db/a2a-tasks.ts';
import { createEvaluation } from '../../../src/db/create-evaluation.ts';
import { newEvaluation } from '../../../src/db/new-evaluation.ts';
import { loadSuite } from '../../../src/datasets/load-suite.ts';
import { createAgentService } from '../../../src/server/a2a/agent-service.ts';
import type { Served } from '../../../src/server/a2a/served.ts';
import { createSuiteService } from '../../../src/server/a2a/suite-service.ts';
import { caseOf, suiteOf } from '../../unit/agents/trial-fixture.ts';
import { openServerRig, type ServerRig } from './support/server-rig.ts';
import { jsonRpc, message, rest, type Wire, type Loose } from './support/wire.ts';

let rig: ServerRig;
let served: Served;
beforeAll(async () => {
  const rules = [
    {
      name: 'order',
      when: { user_contains: 'which order', turn: 0 },
      reply: { tool_calls: [{ name: 'ask_user', arguments: { question: 'Which order?' } }] },
    },
    {
      name: 'look',
      when: { user_contains: 'order 88', turn: 0 },
      reply: { tool_calls: [{ name: 'get_order', arguments: { id: 88 } }] },
    },
    { name: 'paid', when: { last_tool_contains: 'paid' }, reply: { content: 'Order 88 is paid.' } },
    { name: 'hello', reply: { content: 'hello {{last_user}}' } },
  ];
  rig = await openServerRig({ rules, delay_ms: 100 });
  served = await createSuiteService({
    context: rig.context,
    db: rig.session.db,
    files: [rig.suite('one', 1), rig.suite('many', 30, 'concurrency: 4\n')],
  });
});
afterAll(() => rig.close());
beforeEach(() => {
  vi.spyOn(console, 'error').mockImplementation(() => undefined);
});

const task = async (wire: Wire, params: Loose): Promise<Loose> =>
  wire.result(await wire.call('SendMessage', params))['task'] as Loose;

const stateOf = async (wire: Wire, id: string): Promise<string> =>
  wire.result(await wire.call('GetTask', { id }))['status'].state as string;

const NOW = { configuration: { returnImmediately: true } };

describe('a server that goes away', () => {
  test('mid-task: the task goes on, and another server answers for it and streams it', async () => {
    const first = await rig.serve(served);
    const { id, contextId } = await task(jsonRpc(first.url), message('run many', NOW));
    await first.close();
    const second = await rig.serve(served);
    const wire = jsonRpc(second.url);
    const seen = wire.result(await wire.call('GetTask', { id }));
    expect(seen).toMatchObject({ id, contextId });
    const { events } = await wire.stream('SubscribeToTask', { id });
    expect(events.at(-1)?.['statusUpdate'].status.state).toBe('TASK_STATE_COMPLETED');
    expect(wire.result(await wire.call('GetTask', { id }))['artifacts']).toHaveLength(2);
    await second.close();
  });

  test('between storing a task and starting it: the next one starts it', async () => {
    const { db } = rig.session;
    const loaded = await loadSuite(path.join(rig.folder, 'one.yaml'), { env: rig.context.env });
    const wanted = newEvaluation(loaded, { env: rig.context.env, now: new Date() });
    await createEvaluation(db, wanted);
    await insertA2aTask(db, {
      id: 'left-behind',
      context_id: 'c',
      served: served.key,
      evaluation_id: wanted.id,
      state: 'started',
      note: null,
      history: [],
      push_configs: [],
    });
    const server = await rig.serve(served);
    await vi.waitFor(
      async () => expect(await stateOf(jsonRpc(server.url), 'left-behind')).toBe('TASK_STATE_COMPLETED'),
      {
        timeout: 15_000,
        interval: 200,
      },
    );
    await server.close();
  });

  test('where the task cannot be stored, there is no evaluation of it either', async () => {
    const { db } = rig.session;
    const countOf = async (): Promise<number> =>
      (
        await db
          .selectFrom('evaluation')
          .select((select) => select.fn.countAll<number>().as('n'))
          .executeTakeFirstOrThrow()
      ).n;
    const own = { ...served, key: 'refused-by-a-check' };
    const server = await rig.serve(own);
    const before = await countOf();
    await sql`alter table a2a_task add constraint refuse check (served <> 'refused-by-a-check')`.execute(db);
    try {
      const answer = await jsonRpc(server.url).call('SendMessage', message('run one', NOW));
      expect(answer.body).toHaveProperty('error');
      expect(await countOf()).toBe(before);
    } finally {
      await sql`alter table a2a_task drop constraint refuse`.execute(db);
      await server.close();
    }
  });

  test('before a webhook was told of the end: the next one tells it, once', async () => {
    const told: string[] = [];
    const hook = createServer((req, res) => {
      let text = '';
      req.on('data', (chunk: Buffer) => (text += chunk.toString()));
      req.on('end', () => {
        const body = JSON.parse(text) as Loose;
        told.push((body['statusUpdate']?.status.state as string | undefined) ?? 'artifact');
        // The server is stopped before it has this answer.
        setTimeout(() => res.end(), 200);
      });
    });
    await new Promise<void>((resolve) => hook.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(hook.address() as AddressInfo).port}/hook`;
    const first = await rig.serve(served, { allowPrivateWebhooks: true });
    const wire = jsonRpc(first.url);
    const { id } = await task(
      wire,
      message('run many', { configuration: { ...NOW.configuration, taskPushNotificationConfig: { url } } }),
    );
    await first.close();
    const before = told.filter((state) => state === 'TASK_STATE_COMPLETED').length;
    expect(before).toBe(0);
    const second = await rig.serve(served, { allowPrivateWebhooks: true });
    await vi.waitFor(async () => expect(await stateOf(jsonRpc(second.url), id)).toBe('TASK_STATE_COMPLETED'), {
      timeout: 15_000,
    });
    await vi.waitFor(() => expect(told.at(-1)).toBe('TASK_STATE_COMPLETED'), { timeout: 5_000 });
    await second.close();
    const third = await rig.serve(served, { allowPrivateWebhooks: true });
    await delay(500);
    expect(told.filter((state) => state === 'TASK_STATE_COMPLETED')).toHaveLength(1);
    await third.close();
    hook.close();
  });

  test('two servers at once give the same answers', async () => {
    const [first, second] = await Promise.all([rig.serve(served), rig.serve(served)]);
    const { id } = await task(jsonRpc(first.url), message('hello'));
    const done = await task(jsonRpc(second.url), message('one', { taskId: id }));
    expect(done['status'].state).toBe('TASK_STATE_COMPLETED');
    expect(await stateOf(jsonRpc(first.url), id)).toBe('TASK_STATE_COMPLETED');
    await Promise.all([first.close(), second.close()]);
  });

  test('of two answers to one question one starts an evaluation', async () => {
    const server = await rig.serve(served);
    const wire = jsonRpc(server.url);
    const { id } = await task(wire, message('hello'));
    const replies = await Promise.all(
      [1, 2].map(() => wire.call('SendMessage', message('one', { taskId: id, ...NOW }))),
    );
    expect(replies.filter((reply) => reply.body['result'] !== undefined)).toHaveLength(1);
    const { evaluation_id: stored } = await rig.session.db
      .selectFrom('a2a_task')
      .select('evaluation_id')
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    expect(stored).not.toBeNull();
    await server.close();
  });
});

describe('what cannot be', () => {
  test('more tasks than the server takes are rejected, with the reason', async () => {
    const server = await rig.serve(served, { maxTasks: 1 });
    const wire = jsonRpc(server.url);
    const running = await task(wire, message('run many', NOW));
    const refused = await task(wire, message('run one'));
    expect(refused['status']).toMatchObject({ state: 'TASK_STATE_REJECTED' });
    expect(refused['status'].message.parts[0].text).toContain('1 tasks are running');
    await wire.call('CancelTask', { id: running['id'] });
    await server.close();
  });

  test('of messages that come together no more are taken than the server takes', async () => {
    // A key of its own: tasks of other tests may still run.
    const server = await rig.serve({ ...served, key: 'crowd' }, { maxTasks: 2 });
    const wire = jsonRpc(server.url);
    const tasks = await Promise.all(Array.from({ length: 8 }, () => task(wire, message('run many', NOW))));
    const taken = tasks.filter((one) => one['status'].state !== 'TASK_STATE_REJECTED');
    await Promise.all(taken.map((one) => wire.call('CancelTask', { id: one['id'] })));
    expect(taken).toHaveLength(2);
    await server.close();
  });

  test('a suite that is broken by now is rejected, and what is wrong is said', async () => {
    const file = rig.suite('breaks', 1);
    const suites = await createSuiteService({ context: rig.context, db: rig.session.db, files: [file] });
    const server = await rig.serve(suites);
    writeFileSync(file, 'name: breaks\nkind: nonsense\n');
    const refused = await task(jsonRpc(server.url), message('go'));
    expect(refused['status'].state).toBe('TASK_STATE_REJECTED');
    expect(refused['status'].message.parts[0].text).toContain('kind');
    await server.close();
  });

  test('two suites of one name', async () => {
    const files = [rig.suite('same', 1), path.join(rig.folder, 'copy.yaml')];
    writeFileSync(files[1] ?? '', 'name: same\nkind: deep\ndatasets: [same.json]\nagent: { type: openai, model: m }\n');
    const service = createSuiteService({ context: rig.context, db: rig.session.db, files });
    await expect(service).rejects.toThrow('are both named same');
  });
});

describe('security', () => {
  const TOKEN = 'a-long-random-token-0123456789';
  const request = (url: string, init: RequestInit = {}): Promise<Response> => fetch(url, init);

  test('with a token every request needs it, but for the card and healthz', async () => {
    const server = await rig.serve(served, { token: TOKEN });
    const { url } = server;
    const paths = ['/a2a/jsonrpc', '/a2a/rest/tasks', '/tasks/x', '/', '/tasks/send', '/nothing'];
    for (const path of paths) {
      for (const authorization of [undefined, 'Bearer wrong', `Bearer ${TOKEN}x`, `Basic ${TOKEN}`, 'Bearer ']) {
        const headers = authorization === undefined ? {} : { authorization };
        const response = await request(url + path, { headers });
        expect(response.status, `${path} ${authorization}`).toBe(401);
        expect(response.headers.get('www-authenticate')).toMatch(/^Bearer/);
      }
    }
    expect((await request(`${url}/.well-known/agent-card.json`)).status).toBe(200);
    expect((await request(`${url}/healthz`)).status).toBe(200);
    const card = (await (await request(`${url}/.well-known/agent-card.json`)).json()) as Loose;
    expect(card['securitySchemes']).toEqual({
      bearer: { httpAuthSecurityScheme: { description: 'Token of the server', scheme: 'Bearer' } },
    });
    const older = (await (await request(`${url}/.well-known/agent.json`)).json()) as Loose;
    expect(older).toMatchObject({
      securitySchemes: { bearer: { type: 'http', scheme: 'Bearer' } },
      security: [{ bearer: [] }],
    });
    const authorized = await request(`${url}/a2a/rest/tasks`, {
      headers: { authorization: `Bearer ${TOKEN}`, 'a2a-version': '1.0' },
    });
    expect(authorized.status).toBe(200);
    expect(JSON.stringify([card, older])).not.toContain(TOKEN);
    await server.close();
  });

  test('pages of other origins, and names that merely lead here, are refused', async () => {
    const server = await rig.serve(served);
    const { url } = server;
    const origin = await request(`${url}/a2a/rest/tasks`, { headers: { origin: 'https://evil.example' } });
    expect(origin.status).toBe(403);
    const own = await request(`${url}/a2a/rest/tasks`, { headers: { origin: url, 'a2a-version': '1.0' } });
    expect(own.status).toBe(200);
    const { port } = new URL(url);
    const { request: raw } = await import('node:http');
    const rebound = await new Promise<number | undefined>((resolve, reject) => {
      raw({ host: '127.0.0.1', port, path: '/healthz', headers: { host: `evil.example:${port}` } }, (response) => {
        response.resume();
        resolve(response.statusCode);
      })
        .on('error', reject)
        .end();
    });
    expect(rebound).toBe(403);
    await server.close();
  });

  test('headers, sizes and rates', async () => {
    const server = await rig.serve(served, { rateLimit: 20 });
    const { url } = server;
    const { headers } = await request(`${url}/healthz`);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('x-frame-options')).toBe('DENY');
    expect(headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('x-powered-by')).toBeNull();
    for (const path of ['/a2a/jsonrpc', '/a2a/rest/message:send', '/tasks/send']) {
      const response = await request(url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
        body: JSON.stringify({ padding: 'x'.repeat(1_000_001) }),
      });
      expect(response.status, path).toBe(413);
      const said = await response.text();
      expect(said).toContain('larger than 1000000 bytes');
      expect(said).not.toMatch(/\.(ts|js):/);
      if (path === '/a2a/jsonrpc') expect(JSON.parse(said)).toMatchObject({ jsonrpc: '2.0', error: { code: -32_600 } });
    }
    for (const wire of [jsonRpc(url), rest(url)]) {
      const padded = message([{ text: 'help' }], { metadata: { padding: 'x'.repeat(900_000) } });
      const reply = await wire.call('SendMessage', padded);
      expect(reply.status, wire.name).toBe(200);
      expect(wire.result(reply)['message'].parts[0].text).toContain('Name a suite');
    }
    const broken = await request(`${url}/a2a/rest/message:send`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
      body: '{',
    });
    expect(broken.status).toBe(400);
    expect(await broken.json()).toMatchObject({ error: { message: 'Invalid JSON payload.' } });
    const statuses = await Promise.all(
      Array.from({ length: 30 }, () => request(`${url}/healthz`).then(({ status }) => status)),
    );
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThan(5);
    expect(Number((await request(`${url}/healthz`)).headers.get('retry-after'))).toBeGreaterThan(0);
    await server.close();
  });

  test('a webhook on a private address is not told, and the task goes on', async () => {
    const hits: string[] = [];
    const hook = createServer((req, res) => {
      hits.push(req.url ?? '');
      res.end();
    });
    await new Promise<void>((resolve) => hook.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(hook.address() as AddressInfo).port}/hook`;
    const server = await rig.serve(served);
    const done = await task(
      jsonRpc(server.url),
      message('run one', { configuration: { taskPushNotificationConfig: { url } } }),
    );
    expect(done['status'].state).toBe('TASK_STATE_COMPLETED');
    await server.close();
    hook.close();
    expect(hits).toEqual([]);
  });

  test('an error of ours says nothing of the inside', async () => {
    const broken: Served = { ...served, plan: () => Promise.reject(new Error('secret detail at /etc/passwd')) };
    const server = await rig.serve(broken);
    const reply = await jsonRpc(server.url).call('SendMessage', message('x'));
    expect(reply.body['error']).toMatchObject({ code: -32_603, message: 'Internal error.' });
    expect(JSON.stringify(reply.body)).not.toContain('secret detail');
    expect(rig.log.join('\n')).toContain('secret detail');
    await server.close();
  });
});

describe('the agent of a suite', () => {
  const agentSuite = `tools:
  - { name: get_order, parameters: { type: object, properties: { id: { type: number } } } }
  - { name: ask_user }
fixtures:
  default:
    - { tool: get_order, replies: [{ result: { status: paid } }] }
`;

  test('answers, keeps a conversation, asks, and reports what it did', async () => {
    const file = rig.suite('shop', 1, agentSuite);
    const agent = await createAgentService({ context: rig.context, db: rig.session.db, file });
    const server = await rig.serve(agent);
    const wire = jsonRpc(server.url);
    const done = await task(wire, message('Is order 88 paid?'));
    expect(done).toMatchObject({ status: { state: 'TASK_STATE_COMPLETED' } });
    expect(done['artifacts'].map((artifact: Loose) => artifact.artifactId)).toEqual(['answer', 'assay-report']);
    expect(done['artifacts'][0].parts[0].text).toBe('Order 88 is paid.');
    expect(done['artifacts'][1].parts[0].data.assay_report.tool_calls).toMatchObject([
      { tool: 'get_order', args: { id: 88 }, result: { status: 'paid' } },
    ]);
    const { evaluationId } = done['metadata'];
    const next = await task(wire, message('thanks', { contextId: done['contextId'] }));
    expect(next['artifacts'][0].parts[0].text).toBe('hello thanks');
    const cases = await rig.session.db
      .selectFrom('evaluation_case')
      .select('content')
      .where('evaluation_id', '=', next['metadata'].evaluationId)
      .execute();
    expect(cases[0]?.content.messages?.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'assistant',
      'user',
    ]);
    expect(evaluationId).not.toBe(next['metadata'].evaluationId);
    const asks = await task(wire, message('which order do you mean'));
    expect(asks['status']).toMatchObject({ state: 'TASK_STATE_INPUT_REQUIRED' });
    expect(asks['status'].message.parts[0].text).toBe('Which order?');
    const answered = await task(wire, message('order 88', { taskId: asks['id'] }));
    expect(answered).toMatchObject({ id: asks['id'], status: { state: 'TASK_STATE_COMPLETED' } });
    await server.close();
  });

  test('Assay evaluates an agent that Assay publishes, calls included', async () => {
    const agent = await createAgentService({
      context: rig.context,
      db: rig.session.db,
      file: rig.suite('shop2', 1, agentSuite),
    });
    const server = await rig.serve(agent);
    const trajectory = await createA2aAgent({ env: {}, sleep }).run({
      evalCase: caseOf({ input: 'Is order 88 paid?' }),
      trialIndex: 1,
      suite: suiteOf({
        agent: {
          type: 'a2a',
          card_url: server.url,
          allow_private: false,
          mode: 'auto',
          poll_interval_ms: 50,
          patience_ms: 1_000,
          max_response_bytes: 1_000_000,
        },
      }),
      suiteRoot: '/',
      model: { complete: () => Promise.reject(new Error('not used')) },
      signal: new AbortController().signal,
      now: Date.now,
    });
    expect(trajectory).toMatchObject({
      final_status: 'COMPLETED',
      answer: 'Order 88 is paid.',
      tool_calls: [{ tool: 'get_order', args: { id: 88 }, result: { status: 'paid' }, error: null }],
    });
    expect(trajectory.usage.total).toBeGreaterThan(0);
    // What the adapter adds for agents that take tools from it is no word of the user.
    const { content } = await rig.session.db
      .selectFrom('evaluation_case')
      .innerJoin('evaluation', 'evaluation.id', 'evaluation_case.evaluation_id')
      .select('evaluation_case.content')
      .where('evaluation.suite', '=', 'shop2@agent')
      .executeTakeFirstOrThrow();
    expect(content.messages).toEqual([{ role: 'user', content: 'Is order 88 paid?' }]);
    await server.close();
  });
});
