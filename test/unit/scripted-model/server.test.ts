import { createServer } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createModelClient } from '../../../src/agents/openai/openai-client.ts';
import type { ModelReply } from '../../../src/core/model.ts';
import { parseScript } from '../../../src/scripted-model/read-script.ts';
import { startScriptedModel } from '../../../src/scripted-model/server.ts';
import type { ScriptedModel } from '../../../src/scripted-model/server.ts';

let server: ScriptedModel | null = null;
afterEach(async () => {
  await server?.close();
  server = null;
});

async function start(text: string): Promise<ScriptedModel> {
  server = await startScriptedModel({ script: parseScript(text, 's.yaml'), now: () => 1_000_000 });
  return server;
}

async function post(path: string, body: unknown): Promise<Response> {
  return fetch(new URL(path, server!.url), { method: 'POST', body: JSON.stringify(body) });
}

const ask = (content: string, rest: object = {}): Promise<Response> =>
  post('/v1/chat/completions', { model: 'm', messages: [{ role: 'user', content }], ...rest });

function complete(
  content: string,
  options: { stream?: boolean; timeoutMs?: number; signal?: AbortSignal } = {},
): Promise<ModelReply> {
  const client = createModelClient({ baseUrl: server!.url, apiKey: 'test' });
  return client.complete(
    { model: 'm', messages: [{ role: 'user', content }], stream: options.stream ?? false },
    { signal: options.signal ?? new AbortController().signal, timeoutMs: options.timeoutMs ?? 10_000 },
  );
}

describe('startScriptedModel', () => {
  it('the same reply comes streamed and unstreamed to an OpenAI client', async () => {
    await start(
      `rules: [{ reply: { content: 'A栋 uses 1523.5 kWh today', tool_calls: [{ name: f, arguments: { a: 1 } }, { name: g }] } }]`,
    );
    const whole = await complete('x');
    const streamed = await complete('x', { stream: true });
    const same = ({ content, tool_calls, finish_reason, usage, model, refusal }: ModelReply): object => ({
      content,
      calls: tool_calls.map((call) => (call as { function: object }).function),
      finish_reason,
      usage,
      model,
      refusal,
    });
    expect(same(streamed)).toEqual(same(whole));
    expect(whole).toMatchObject({
      content: 'A栋 uses 1523.5 kWh today',
      finish_reason: 'tool_calls',
      model: 'scripted-1',
    });
  });

  it.each([
    ['R5', '{ status: 429, error: { code: insufficient_quota } }', 'quota'],
    ['R6', '{ status: 429, headers: { retry-after: "2" } }', 'rate_limit'],
    ['R7', '{ status: 500 }', 'server_error'],
    ['R8', '{ status: 401 }', 'unauthorized'],
    ['R9', '{ status: 400, error: { code: context_length_exceeded } }', 'context_length'],
    ['dropped before', '{ drop: before }', 'connection'],
    ['dropped in the middle', '{ content: a long enough text, drop: mid }', 'connection'],
    ['an HTML page', '{ body: "<html></html>" }', 'invalid_reply'],
    ['hanging', '{ hang: true }', 'timeout'],
  ])('%s: an OpenAI client meets %s as %s', async (_row, reply, kind) => {
    await start(`rules: [{ reply: ${reply} }]`);
    await expect(complete('x', { timeoutMs: 300 })).rejects.toMatchObject({ kind });
  });

  it('R6: headers of a reply reach the client', async () => {
    await start('rules: [{ reply: { status: 429, headers: { retry-after: "2" } } }]');
    await expect(complete('x')).rejects.toMatchObject({ retryAfterMs: 2000 });
  });

  it.each(['{ content: a long enough text for chunks, stall_after: 2 }', '{ content: x, stall_after: 0 }'])(
    'a stream stalled by %s keeps the connection open',
    async (reply) => {
      await start(`rules: [{ reply: ${reply} }]`);
      await expect(complete('x', { stream: true, timeoutMs: 300 })).rejects.toMatchObject({ kind: 'timeout' });
    },
  );

  it('a stream dropped in the middle is a failed connection', async () => {
    await start('rules: [{ reply: { content: a long enough text for many chunks, drop: mid } }]');
    await expect(complete('x', { stream: true })).rejects.toMatchObject({ kind: 'connection' });
  });

  it('replies go by how often this very request came; the last repeats', async () => {
    await start('rules: [{ replies: [{ status: 500 }, { content: one }, { content: two }] }]');
    const status = async (content: string): Promise<unknown> => {
      const response = await ask(content);
      const body = (await response.json()) as { choices?: { message: { content: string } }[] };
      return body.choices?.[0]?.message.content ?? response.status;
    };
    expect([await status('a'), await status('a'), await status('b'), await status('a'), await status('a')]).toEqual([
      500,
      'one',
      500,
      'two',
      'two',
    ]);
  });

  it('counts calls, rules, tokens and repeated requests; a retry after an error is no repetition', async () => {
    await start(`
rules:
  - { name: again, allow_repeat: true, when: { user_contains: free }, reply: { content: x, usage: { input: 1, output: 1 } } }
  - { name: once, when: { user_contains: a }, replies: [{ status: 500 }, { content: x, usage: { input: 10, output: 5 } }] }
`);
    for (const content of ['a', 'a', 'a', 'free', 'free', 'zzz']) await (await ask(content)).text();
    expect(server!.stats()).toEqual({
      calls: 6,
      answered: 6,
      aborted: 0,
      inFlight: 0,
      unmatched: 1,
      byRule: { once: 3, again: 2 },
      byStatus: { 200: 4, 400: 1, 500: 1 },
      tokens: { input: 22, output: 12, total: 34 },
      repeated: 1,
    });
    const overHttp = await fetch(new URL('/stats?by_hash', server!.url));
    const body = (await overHttp.json()) as { repeated: number; byHash: Record<string, number> };
    expect([body.repeated, Object.values(body.byHash)]).toEqual([1, [2, 2]]);
    await post('/reset', {});
    expect(server!.stats()).toMatchObject({ calls: 0, repeated: 0, byRule: {} });
  });

  it('a request given up while it waits is counted as aborted, not answered', async () => {
    await start('rules: [{ reply: { content: x, delay_ms: 60000 } }]');
    const controller = new AbortController();
    const given = complete('x', { signal: controller.signal });
    await expect.poll(() => server!.stats().inFlight).toBe(1);
    controller.abort();
    await expect(given).rejects.toMatchObject({ kind: 'aborted' });
    await expect.poll(() => server!.stats()).toMatchObject({ calls: 1, answered: 0, aborted: 1, inFlight: 0 });
  });

  it('holds 500 open requests and answers them all', async () => {
    await start('rules: [{ reply: { content: x } }]');
    // Longer than a busy machine takes to send them all.
    await post('/control', { delayMs: 2_500 });
    const all = Promise.all(Array.from({ length: 500 }, (_, index) => ask(`case ${index}`)));
    await expect.poll(() => server!.stats().inFlight, { timeout: 10_000, interval: 10 }).toBe(500);
    const statuses = (await all).map((response) => response.status);
    expect(statuses.every((status) => status === 200)).toBe(true);
    expect(server!.stats()).toMatchObject({ calls: 500, answered: 500, repeated: 0 });
  });

  it('control breaks and mends the endpoint while it runs', async () => {
    await start('rules: [{ reply: { content: x } }]');
    await post('/control', { failStatus: 503 });
    expect((await ask('a')).status).toBe(503);
    await post('/control', { failStatus: null, dropAll: true });
    await expect(ask('a')).rejects.toThrow();
    await post('/control', { dropAll: false });
    expect((await ask('a')).status).toBe(200);
    expect((await post('/control', { failStatus: 7 })).status).toBe(400);
  });

  it('without a rule it says which request, and of which file', async () => {
    await start('rules: [{ when: { user_contains: x }, reply: { content: x } }]');
    const response = await ask('where is order 88?');
    expect(response.status).toBe(400);
    expect(await response.text()).toMatch(/No rule of s\.yaml matches this request \(turn 0\).*where is order 88\?/);
  });

  it.each(['not json', '[]', '""'])('a body that is %s is refused in OpenAI form', async (body) => {
    await start('rules: []');
    const response = await fetch(new URL('/v1/chat/completions', server!.url), { method: 'POST', body });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { type: 'invalid_request_error' } });
  });

  it('lists its models, and answers 404 elsewhere', async () => {
    await start('model: a\nrules: [{ when: { model: b }, reply: { content: x } }]');
    const models = (await (await fetch(new URL('/v1/models', server!.url))).json()) as { data: { id: string }[] };
    expect(models.data.map((one) => one.id)).toEqual(['a', 'b']);
    expect((await fetch(new URL('/v1/embeddings', server!.url))).status).toBe(404);
  });

  it('a port that is taken is an error that says what to do', async () => {
    const other = createServer();
    const port = await new Promise<number>((resolve) => {
      other.listen(0, '127.0.0.1', () => resolve((other.address() as { port: number }).port));
    });
    try {
      const started = startScriptedModel({ script: parseScript('', 's.yaml'), port });
      await expect(started).rejects.toMatchObject({
        name: 'UserError',
        hint: expect.stringContaining('another port') as string,
      });
    } finally {
      other.close();
    }
  });
});
