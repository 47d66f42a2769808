import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterEach, describe, expect, test } from 'vitest';
import type { AgentInput } from '../../../../src/agents/agent.ts';
import { createHttpAgent } from '../../../../src/agents/http/http-agent.ts';
import { sleep } from '../../../../src/agents/sleep.ts';
import { httpAgentSchema } from '../../../../src/core/agent-config.schema.ts';
import type { EvalCase } from '../../../../src/core/case.ts';
import { ModelError, UserError } from '../../../../src/core/errors.ts';
import type { Suite } from '../../../../src/core/suite.ts';
import type { Trajectory } from '../../../../src/core/trajectory.ts';
import { sendJson } from '../http-endpoint.ts';
import { caseOf, inputOf, scripted, suiteOf } from '../trial-fixture.ts';
import { startService, type Service } from './service.ts';

const SECRET = 'sk-very-secret-value-123';
const MOCK = {
  tools: [
    { tool: 'get_order', replies: [{ result: { status: 'paid' } }] },
    { tool: 'refund', replies: [{ fail: { kind: 'http_500' as const } }] },
  ],
};

let service: Service | undefined;
const more: Service[] = [];
afterEach(async () => {
  await service?.close();
  for (const one of more.splice(0)) await one.close();
  service = undefined;
});

type Handler = (body: Record<string, unknown>, response: ServerResponse, request: IncomingMessage) => void;

interface Part {
  config?: Record<string, unknown>;
  evalCase?: Partial<EvalCase>;
  limits?: Partial<Suite['limits']>;
  input?: Partial<AgentInput>;
  env?: Record<string, string>;
}

async function run(handler: Handler, part: Part = {}): Promise<Trajectory> {
  service = await startService(handler);
  return createHttpAgent({ sleep, env: part.env ?? {}, newConversationId: () => 'conversation-1' }).run(
    inputOf({
      model: scripted(),
      evalCase: caseOf({ mock: MOCK, ...part.evalCase }),
      suite: suiteOf({
        agent: httpAgentSchema.parse({ type: 'http', url: `${service.url}/agent`, ...part.config }),
        limits: { ...suiteOf().limits, ...part.limits },
      }),
      ...part.input,
    }),
  );
}

const failure = (promise: Promise<unknown>): Promise<ModelError> =>
  promise.then(
    () => {
      throw new Error('it was answered');
    },
    (error: unknown) => error as ModelError,
  );

describe('one request', () => {
  test('is sent everything but the case id, and its reply is the trajectory', async () => {
    const trajectory = await run(
      (_body, response) =>
        sendJson(response, {
          answer: 'Refunded.',
          tool_calls: [
            { tool: 'get_order', args: { order: 88 }, result: { status: 'paid' }, turn: 0 },
            { tool: 'get_order', args: { order: 89 }, result: null, error: 'gone', turn: 0 },
            { tool: 'refund', args: { order: 88 }, result: 'done' },
          ],
          usage: { prompt_tokens: 10, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 4 } },
          retrieved_doc_ids: ['d1', { id: 'd2' }],
          plan: ['look', 'refund'],
          model: 'm-1',
          sub_agents: [{ name: 'helper', input: 'check', output: 'ok', tool_calls: [{ tool: 't', args: {} }] }],
        }),
      { evalCase: { metadata: { site: 'A' }, context: { documents: [{ id: 'd1', text: 'x' }] } } },
    );
    expect(service?.bodies[0]).toEqual({
      input: 'Refund order 88',
      messages: trajectory.messages.slice(0, 2),
      tools: [{ name: 'get_order' }, { name: 'refund' }],
      tool_results: [],
      documents: [{ id: 'd1', text: 'x' }],
      metadata: { site: 'A' },
      conversation_id: 'conversation-1',
      trial_index: 1,
    });
    expect(JSON.stringify(service?.bodies)).not.toContain('case-id-canary');
    expect(trajectory).toMatchObject({
      final_status: 'COMPLETED',
      answer: 'Refunded.',
      iterations: 3,
      usage: { input: 10, cached: 4, output: 5, total: 15 },
      retrieved_doc_ids: ['d1', 'd2'],
      plan: ['look', 'refund'],
      model: 'm-1',
      sub_agents: [{ name: 'helper', output: 'ok', tool_calls: [{ tool: 't', args: {}, malformed: null }] }],
    });
    expect(trajectory.tool_calls.map(({ tool, turn, error }) => [tool, turn, error])).toEqual([
      ['get_order', 0, null],
      ['get_order', 0, { kind: 'error', message: 'gone' }],
      ['refund', 1, null],
    ]);
  });

  test('template and pointers are the suite’s; statuses are translated; the secret goes into its header only', async () => {
    const trajectory = await run(
      (_body, response, request) =>
        sendJson(response, {
          choices: [{ message: { content: `you sent ${request.headers['x-key'] as string}` } }],
          state: 'handed-over',
        }),
      {
        env: { MY_KEY: SECRET },
        evalCase: { metadata: { site: { name: 'A' } }, input: 'say {{metadata}}' },
        config: {
          auth_env: 'MY_KEY',
          auth_header: 'X-Key',
          auth_scheme: '',
          request: { q: '{{input}}', at: 'site {{metadata.site.name}}/{{metadata.nothing}}', m: '{{ metadata.site }}' },
          response: { answer: '/choices/0/message/content', final_status: '/state' },
          statuses: { 'handed-over': 'ESCALATED' },
        },
      },
    );
    // What a case says is data: it is never looked at for names again.
    expect(service?.bodies[0]).toEqual({ q: 'say {{metadata}}', at: 'site A/', m: { name: 'A' } });
    expect(trajectory).toMatchObject({ final_status: 'ESCALATED', answer: 'you sent [api key withheld by Assay]' });
    expect(JSON.stringify(trajectory)).not.toContain(SECRET);
  });

  test('T7, T9, T10: calls that are none are kept as malformed; equal ids stay two calls', async () => {
    const broken = [{ type: 'custom' }, { type: 'function', function: null }, 'oops', { tool: 'f', args: '{}""' }];
    const twice = [1, 2].map((n) => ({ id: 'same', tool: 'f', args: { n }, result: n }));
    const trajectory = await run((_body, response) =>
      sendJson(response, { answer: 'done', tool_calls: [...broken, ...twice] }),
    );
    expect(trajectory.tool_calls.map((call) => [call.tool, call.args, call.malformed !== null, call.result])).toEqual([
      ['(malformed)', null, true, null],
      ['(malformed)', null, true, null],
      ['(malformed)', null, true, null],
      ['f', null, true, null],
      ['f', { n: 1 }, false, 1],
      ['f', { n: 2 }, false, 2],
    ]);
    expect(trajectory.tool_calls[3]?.raw_arguments).toBe('{}""');
    expect(trajectory).toMatchObject({ final_status: 'COMPLETED', answer: 'done' });
  });

  test('T8: an empty answer beside a call is no empty reply', async () => {
    const trajectory = await run((_body, response) =>
      sendJson(response, { answer: '', tool_calls: [{ tool: 'get_order', args: {} }] }),
    );
    expect(trajectory).toMatchObject({ final_status: 'COMPLETED', answer: null });
    expect(trajectory.tool_calls).toHaveLength(1);
  });

  test.each([
    ['nothing where the answer should be', { text: 'hi' }, /nothing at \/answer of the reply/],
    ['an empty answer', { answer: ' ' }, /empty reply/],
    ['calls that are no list', { answer: 'a', tool_calls: 7 }, /tool_calls is 7/],
    ['an unknown status', { answer: 'a', final_status: 'fine' }, /final_status is "fine"/],
    ['sub-agents that are none', { answer: 'a', sub_agents: ['x'] }, /sub_agents: expected a list/],
  ])('%s is a FAILED trajectory that says so', async (_name, reply, reason) => {
    const trajectory = await run((_body, response) => sendJson(response, reply));
    expect(trajectory).toMatchObject({ final_status: 'FAILED', answer: null });
    expect(trajectory.final_status_reason).toMatch(reason);
  });
});

describe('tools of the mock world', () => {
  test('T6: pending calls of one reply are one turn, answered in order and sent back', async () => {
    const trajectory = await run((body, response) => {
      const results = body['tool_results'] as { error?: { kind: string } }[];
      sendJson(
        response,
        results.length === 0
          ? {
              pending_calls: [
                { id: 'a', tool: 'refund', args: { order: 88 } },
                { id: 'a', function: { name: 'get_order', arguments: '{"order":88}' } },
              ],
            }
          : { answer: `refund: ${results[0]?.error?.kind}` },
      );
    });
    expect(service?.bodies[1]?.['tool_results']).toEqual([
      { id: 'a', tool: 'refund', error: { kind: 'http_500', message: expect.any(String) as string } },
      { id: 'a', tool: 'get_order', result: { status: 'paid' } },
    ]);
    expect(trajectory.tool_calls.map(({ turn, tool }) => [turn, tool])).toEqual([
      [0, 'refund'],
      [0, 'get_order'],
    ]);
    expect(trajectory.messages.map((message) => message.role)).toEqual([
      'user',
      'assistant',
      'tool',
      'tool',
      'assistant',
    ]);
    expect(trajectory).toMatchObject({ answer: 'refund: http_500', iterations: 2, final_status: 'COMPLETED' });
  });

  test('R10: an agent that never stops calling ends at each cap, which is named', async () => {
    const calling: Handler = (_body, response) =>
      sendJson(response, { pending_calls: [{ tool: 'get_order', args: {} }], usage: { input: 6, output: 4 } });
    for (const [limits, reason] of [
      [{ max_iterations: 3 }, 'max_iterations (3) is reached'],
      [{ max_tool_calls: 2 }, 'max_tool_calls (2) is reached'],
      [{ max_tokens: 20 }, 'max_tokens (20) is reached: 20 tokens used'],
    ] as const) {
      const trajectory = await run(calling, { limits });
      expect(trajectory).toMatchObject({ final_status: 'MAX_ITERATIONS', final_status_reason: reason });
      await service?.close();
    }
  });

  test('turns are sent one after the other, with the conversation so far', async () => {
    const trajectory = await run(
      (body, response) => sendJson(response, { answer: `heard ${body['input'] as string}` }),
      { evalCase: { turns: ['one', 'two', 'three'], context: { memory: [{ role: 'user', content: 'before' }] } } },
    );
    expect(service?.bodies.map((body) => (body['messages'] as unknown[]).length)).toEqual([3, 5, 7]);
    expect(new Set(service?.bodies.map((body) => body['conversation_id'])).size).toBe(1);
    expect(trajectory).toMatchObject({ answer: 'heard three', iterations: 3 });
  });
});

describe('a task that is polled', () => {
  const poll = { url: '/tasks/{{id}}', interval_ms: 1, cancel_url: '/tasks/{{id}}/cancel' };

  test('is asked for until it is done; an id cannot leave its place in the path', async () => {
    let asked = 0;
    const trajectory = await run(
      (_body, response, request) => {
        if (request.method === 'POST') return sendJson(response, { id: '../../admin?x', status: 'queued' });
        asked += 1;
        if (asked === 2) return sendJson(response, 'busy', 503);
        return sendJson(response, asked < 4 ? { status: 'working' } : { status: 'done', answer: 'late' });
      },
      { config: { poll } },
    );
    expect(trajectory.answer).toBe('late');
    expect(service?.paths).toEqual([
      '/agent',
      ...Array.from({ length: 4 }, () => '/tasks/%2E%2E%2F%2E%2E%2Fadmin%3Fx'),
    ]);
  });

  test('that failed, or says no status, is FAILED; one that cannot be asked for fails the request', async () => {
    const failed = await run((_body, response) => sendJson(response, { id: 1, status: 'failed', why: 'no' }), {
      config: { poll },
    });
    expect(failed).toMatchObject({ final_status: 'FAILED' });
    expect(failed.final_status_reason).toMatch(/ended as failed.*"why":"no"/);
    const silent = await run((_body, response) => sendJson(response, { id: 1 }), { config: { poll } });
    expect(silent.final_status_reason).toMatch(/no status at \/status/);
    const gone = await failure(
      run(
        (_body, response, request) =>
          request.method === 'POST' ? sendJson(response, { id: 1, status: 'w' }) : sendJson(response, 'x', 500),
        { config: { poll } },
      ),
    );
    expect(gone).toMatchObject({ kind: 'server_error', status: 500 });
    expect(service?.paths.filter((path) => path === '/tasks/1')).toHaveLength(3);
  });

  test('is given up when the trial is canceled: the agent hears of it within a second', async () => {
    const cancel = new AbortController();
    const startedAt = performance.now();
    const running = run(
      (_body, response, request) => {
        if (request.url === '/tasks/7') cancel.abort();
        sendJson(response, { id: 7, status: 'working' });
      },
      { config: { poll }, input: { signal: cancel.signal } },
    );
    await expect(running).rejects.toMatchObject({ name: 'AbortError' });
    expect(performance.now() - startedAt).toBeLessThan(1_000);
    expect(service?.paths.at(-1)).toBe('/tasks/7/cancel');
  });
});

describe('infrastructure', () => {
  test.each([
    [500, '{}', 'server_error'],
    [503, 'busy', 'server_error'],
    [429, '{}', 'rate_limit'],
    [429, '{"error":{"code":"insufficient_quota"}}', 'quota'],
    [401, 'no', 'unauthorized'],
    [403, 'no', 'forbidden'],
    [404, 'no', 'invalid_endpoint'],
    [422, 'wrong', 'bad_request'],
  ])('R7, R8: status %i %s is %s, after one request', async (status, body, kind) => {
    const error = await failure(run((_body, response) => sendJson(response, body, status, { 'retry-after': '2' })));
    expect(error).toBeInstanceOf(ModelError);
    expect(error).toMatchObject({ kind, status, retryAfterMs: 2_000 });
    expect(service?.bodies).toHaveLength(1);
  });

  test('R9: context length and content filter are the agent’s own: FAILED, with the trajectory so far', async () => {
    for (const body of ['{"error":{"code":"context_length_exceeded"}}', '{"error":{"code":"content_filter"}}']) {
      let requests = 0;
      const trajectory = await run((_body, response) => {
        requests += 1;
        if (requests === 1) sendJson(response, { pending_calls: [{ tool: 'get_order', args: {} }] });
        else sendJson(response, body, 400);
      });
      expect(trajectory).toMatchObject({ final_status: 'FAILED', answer: null });
      expect(trajectory.tool_calls).toHaveLength(1);
      await service?.close();
    }
  });

  test('a reply dropped in the middle, HTML, and no JSON are retried', async () => {
    const dropped = await failure(
      run((_body, response) => {
        response.writeHead(200, { 'content-length': '1000' });
        response.write('{"answer": "ha', () => response.destroy());
      }),
    );
    expect(dropped).toMatchObject({ kind: 'connection' });
    for (const body of ['<html>gateway</html>', '{"answer": ']) {
      const error = await failure(run((_body, response) => sendJson(response, body)));
      expect(error).toMatchObject({ kind: 'invalid_reply' });
    }
  });

  test('nobody listening is told apart by its cause', async () => {
    service = await startService((_body, response) => sendJson(response, {}));
    const url = `${service.url}/agent`;
    await service.close();
    const agent = createHttpAgent({ sleep, env: {} });
    const suite = suiteOf({ agent: httpAgentSchema.parse({ type: 'http', url }) });
    const error = await failure(agent.run(inputOf({ model: scripted(), suite })));
    expect(error).toMatchObject({ kind: 'connection' });
    expect(JSON.stringify([error.message, error.cause])).toContain('ECONNREFUSED');
  });

  test('D9: a secret the agent echoes in an error is not in it', async () => {
    const error = await failure(
      run((_body, response, request) => sendJson(response, `bad ${request.headers.authorization}`, 500), {
        env: { MY_KEY: SECRET },
        config: { auth_env: 'MY_KEY' },
      }),
    );
    expect(error.message).toContain('bad Bearer [api key');
    expect(JSON.stringify(error)).not.toContain(SECRET);
  });

  test('a secret that is not set stops with the name of its variable', async () => {
    const error = await failure(run(() => undefined, { config: { auth_env: 'MY_KEY' } }));
    expect(error).toBeInstanceOf(UserError);
    expect(error.message).toBe('agent.auth_env names MY_KEY, which is not set');
  });
});

describe('a hostile service', () => {
  test('that drips bytes for ever meets the total deadline, and its connection is closed', async () => {
    const startedAt = performance.now();
    const trajectory = await run(
      (_body, response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        const timer = setInterval(() => response.write(' '), 20);
        response.on('close', () => clearInterval(timer));
      },
      { limits: { timeout_ms: 300 } },
    );
    expect(trajectory).toMatchObject({
      final_status: 'TIMEOUT',
      final_status_reason: 'timeout_ms (300 ms) is used up',
    });
    expect(performance.now() - startedAt).toBeLessThan(1_500);
    await service?.clientGone;
  });

  test('that sends more than is read is cut off: FAILED', async () => {
    const trajectory = await run(
      (_body, response) => {
        response.writeHead(200);
        const pump = (): void => {
          while (!response.destroyed && response.write(' '.repeat(64 * 1024)));
          response.once('drain', pump);
        };
        pump();
      },
      { config: { max_response_bytes: 1_000_000 } },
    );
    expect(trajectory).toMatchObject({ final_status: 'FAILED' });
    expect(trajectory.final_status_reason).toMatch(/longer than 1000000 bytes/);
    await service?.clientGone;
  });

  test.each([
    'http://169.254.169.254/latest/meta-data',
    'http://[::ffff:10.0.0.1]/',
    'http://10.1.2.3/',
    'file:///etc/passwd',
  ])('that redirects to %s is not followed there', async (location) => {
    const error = await failure(
      run((_body, response) => {
        response.writeHead(307, { location });
        response.end();
      }),
    );
    expect(error.message).toMatch(/no request is sent to|redirect/);
    expect(error).toBeInstanceOf(UserError);
  });

  test('that redirects elsewhere takes no secret along', async () => {
    const other = await startService((_body, response) => sendJson(response, { answer: 'here' }));
    more.push(other);
    const trajectory = await run(
      (_body, response) => {
        response.writeHead(307, { location: other.url.replace('127.0.0.1', 'localhost') });
        response.end();
      },
      { env: { MY_KEY: SECRET }, config: { auth_env: 'MY_KEY', auth_header: 'x-key', allow_private: true } },
    );
    expect(trajectory.answer).toBe('here');
    expect(service?.headers[0]?.['x-key']).toBe(`Bearer ${SECRET}`);
    expect(other.headers[0]?.['x-key']).toBeUndefined();
  });

  test('cancel closes the connection within a second, seen by the service', async () => {
    const cancel = new AbortController();
    const startedAt = performance.now();
    const running = run(() => cancel.abort(), { input: { signal: cancel.signal } });
    await expect(running).rejects.toMatchObject({ name: 'AbortError' });
    await service?.clientGone;
    expect(performance.now() - startedAt).toBeLessThan(1_000);
  });
});
