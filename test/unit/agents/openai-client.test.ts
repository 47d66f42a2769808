import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { createModelClient } from '../../../src/agents/openai/openai-client.ts';
import { ModelError, UserError } from '../../../src/core/errors.ts';
import type { ModelReply, ModelRequest } from '../../../src/core/model.ts';
import { completion, delta, type HttpEndpoint, sendJson, sse, startEndpoint } from './http-endpoint.ts';

let endpoint: HttpEndpoint | undefined;
afterEach(async () => {
  await endpoint?.close();
  endpoint = undefined;
});

type Handler = Parameters<typeof startEndpoint>[0];
const REQUEST: ModelRequest = { model: 'm', messages: [{ role: 'user', content: 'hi' }] };
const KEY = 'sk-canary-0123456789';

async function ask(
  handler: Handler,
  request: Partial<ModelRequest> = {},
  options: { timeoutMs?: number; signal?: AbortSignal; maxReplyBytes?: number } = {},
): Promise<ModelReply> {
  endpoint = await startEndpoint(handler);
  const { maxReplyBytes } = options;
  const client = createModelClient({
    baseUrl: endpoint.baseUrl,
    apiKey: KEY,
    ...(maxReplyBytes === undefined ? {} : { maxReplyBytes }),
  });
  const signal = options.signal ?? new AbortController().signal;
  return client.complete({ ...REQUEST, ...request }, { signal, timeoutMs: options.timeoutMs ?? 10_000 });
}

async function failure(...args: Parameters<typeof ask>): Promise<ModelError> {
  const error: unknown = await ask(...args).then(
    (reply) => expect.fail(`answered: ${JSON.stringify(reply)}`),
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ModelError);
  return error as ModelError;
}

const fail =
  (status: number, body: unknown, headers: Record<string, string> = {}): Handler =>
  (response) =>
    sendJson(response, body, status, headers);
const apiError = (code: string, message = 'no'): unknown => ({ error: { message, type: 'x', code } });

describe('the field of the output limit', () => {
  const OPENAI =
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
  type Sent = Record<string, unknown>;
  const clientOf = async (
    refuse: (body: Sent) => string | null,
  ): Promise<{ sent: Sent[]; complete: (model: string, limit?: number) => Promise<ModelReply> }> => {
    const sent: Sent[] = [];
    endpoint = await startEndpoint((response, body) => {
      sent.push(body);
      const message = refuse(body);
      if (message === null) sendJson(response, completion({ content: 'ok' }));
      else sendJson(response, apiError('invalid_value', message), 400);
    });
    const client = createModelClient({ baseUrl: endpoint.baseUrl, apiKey: KEY });
    return {
      sent,
      complete: (model, limit = 50) =>
        client.complete(
          { ...REQUEST, model, max_output_tokens: limit },
          { signal: new AbortController().signal, timeoutMs: 10_000 },
        ),
    };
  };
  const fields = (sent: Sent[]): string[] =>
    sent.map((body) => `${String(body['model'])} ${Object.keys(body).find((key) => key.startsWith('max_'))}`);

  test('a reasoning model behind a proxy is asked once more, and from then on as it wants', async () => {
    const { sent, complete } = await clientOf(({ model, max_tokens }) =>
      model === 'o' && max_tokens !== undefined ? OPENAI : null,
    );
    expect((await complete('o')).content).toBe('ok');
    await complete('o');
    await complete('plain');
    expect(fields(sent)).toEqual([
      'o max_tokens',
      'o max_completion_tokens',
      'o max_completion_tokens',
      'plain max_tokens',
    ]);
    expect(sent[1]?.['max_completion_tokens']).toBe(50);
  });

  test('both refused: two requests, and the refusal', async () => {
    const { sent, complete } = await clientOf((body) =>
      body['max_tokens'] === undefined ? "unknown field 'max_completion_tokens'" : OPENAI,
    );
    await expect(complete('o')).rejects.toMatchObject({ kind: 'bad_request', message: /unknown field/ });
    expect(fields(sent)).toEqual(['o max_tokens', 'o max_completion_tokens']);
  });

  test('another complaint about it is no refusal of the field', async () => {
    const { sent, complete } = await clientOf(() => 'max_tokens is too large: 50. At most 4 are possible.');
    await expect(complete('m')).rejects.toMatchObject({ kind: 'bad_request' });
    expect(sent).toHaveLength(1);
  });
});

describe('replies', () => {
  test('a reply is read into plain data', async () => {
    const reply = await ask((response) =>
      sendJson(
        response,
        completion(
          { content: 'hello' },
          {
            usage: {
              prompt_tokens: 10,
              completion_tokens: 5,
              total_tokens: 15,
              prompt_tokens_details: { cached_tokens: 4 },
              completion_tokens_details: { reasoning_tokens: 2 },
            },
          },
        ),
        200,
        { 'x-request-id': 'r-1' },
      ),
    );
    expect(reply).toEqual({
      content: 'hello',
      refusal: null,
      tool_calls: [],
      finish_reason: 'stop',
      usage: { input: 10, cached: 4, output: 5, reasoning: 2, total: 15 },
      model: 'served-model',
      request_id: 'r-1',
      time_to_first_token_ms: null,
    });
  });

  test('the request carries what was asked for and nothing else', async () => {
    await ask((response) => sendJson(response, completion({ content: 'ok' })), {
      tools: [{ name: 'f', description: 'does f', parameters: { type: 'object' } }, { name: 'g' }],
      temperature: 0,
      seed: 8,
      max_output_tokens: 50,
      extra_body: { top_k: 3 },
    });
    expect(endpoint?.bodies).toEqual([
      {
        model: 'm',
        messages: [{ role: 'user', content: 'hi' }],
        tools: [
          { type: 'function', function: { name: 'f', description: 'does f', parameters: { type: 'object' } } },
          { type: 'function', function: { name: 'g', parameters: { type: 'object', properties: {} } } },
        ],
        temperature: 0,
        seed: 8,
        max_tokens: 50,
        top_k: 3,
      },
    ]);
    expect(endpoint?.headers[0]?.authorization).toBe(`Bearer ${KEY}`);
  });

  test('without a key no Authorization header is sent', async () => {
    endpoint = await startEndpoint((response) => sendJson(response, completion({ content: 'ok' })));
    const client = createModelClient({ baseUrl: endpoint.baseUrl, apiKey: null });
    await client.complete(REQUEST, { signal: new AbortController().signal, timeoutMs: 10_000 });
    expect(endpoint.headers[0]?.authorization).toBeUndefined();
  });

  test('T7: malformed tool calls are kept as they came', async () => {
    const calls = [{ type: 'custom', custom: { name: 'c' } }, { type: 'function', function: null }, 'oops'];
    const reply = await ask((response) => sendJson(response, completion({ content: null, tool_calls: calls })));
    expect(reply.tool_calls).toEqual(calls);
  });

  test('T7: tool_calls that is no list is one malformed call', async () => {
    const reply = await ask((response) => sendJson(response, completion({ content: null, tool_calls: 'oops' })));
    expect(reply.tool_calls).toEqual(['oops']);
  });

  test('J11: a reply without usage has unknown tokens, not 0', async () => {
    const reply = await ask((response) => sendJson(response, completion({ content: 'ok' }, { usage: undefined })));
    expect(reply.usage).toEqual({ input: null, cached: null, output: null, reasoning: null, total: null });
  });

  test('J10: refusal, empty and null content are replies the caller judges', async () => {
    const refused = await ask((response) => sendJson(response, completion({ content: null, refusal: 'I cannot' })));
    expect(refused).toMatchObject({ content: null, refusal: 'I cannot' });
    await endpoint?.close();
    const empty = await ask((response) => sendJson(response, completion({ content: '' })));
    expect(empty).toMatchObject({ content: '', refusal: null });
  });

  test('J10: finish_reason content_filter is kept', async () => {
    const reply = await ask((response) =>
      sendJson(response, { choices: [{ message: { content: null }, finish_reason: 'content_filter' }] }),
    );
    expect(reply).toMatchObject({ content: null, finish_reason: 'content_filter' });
  });
});

describe('streaming', () => {
  const stream =
    (text: string): Handler =>
    (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(text);
    };

  test('chunks are put together, parallel calls and usage too', async () => {
    const call = (index: number, rest: object): unknown => delta({ tool_calls: [{ index, ...rest }] });
    const reply = await ask(
      stream(
        sse([
          delta({ role: 'assistant', content: '' }),
          delta({ content: 'Let me ' }),
          delta({ content: 'see' }),
          call(0, { id: 'a', type: 'function', function: { name: 'f', arguments: '' } }),
          call(0, { function: { arguments: '{"x"' } }),
          call(1, { id: 'b', type: 'function', function: { name: 'g', arguments: '{}' } }),
          call(0, { function: { arguments: ':1}' } }),
          delta({}, 'tool_calls'),
          { choices: [], usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 } },
        ]),
      ),
      { stream: true },
    );
    expect(reply).toMatchObject({
      content: 'Let me see',
      finish_reason: 'tool_calls',
      model: 'served-model',
      usage: { input: 3, output: 2, total: 5 },
      tool_calls: [
        { id: 'a', type: 'function', function: { name: 'f', arguments: '{"x":1}' } },
        { id: 'b', type: 'function', function: { name: 'g', arguments: '{}' } },
      ],
    });
    expect(reply.time_to_first_token_ms).toBeGreaterThanOrEqual(0);
    expect(endpoint?.bodies[0]).toMatchObject({ stream: true, stream_options: { include_usage: true } });
  });

  test('calls without index are told apart by their ids', async () => {
    const part = (rest: object): unknown => delta({ tool_calls: [rest] });
    const reply = await ask(
      stream(
        sse([
          part({ id: 'a', function: { name: 'f', arguments: '{' } }),
          part({ function: { arguments: '}' } }),
          part({ id: 'b', function: { name: 'f', arguments: '{}' } }),
          part('oops' as unknown as object),
          delta({}, 'tool_calls'),
        ]),
      ),
      { stream: true },
    );
    expect(reply.tool_calls).toEqual([
      { id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } },
      { id: 'b', type: 'function', function: { name: 'f', arguments: '{}' } },
      'oops',
    ]);
  });

  test('an endpoint that ignores stream and sends JSON is understood', async () => {
    const reply = await ask((response) => sendJson(response, completion({ content: 'whole' })), { stream: true });
    expect(reply).toMatchObject({ content: 'whole', time_to_first_token_ms: null });
  });

  test('a stream that ends early is a connection error, not a short answer', async () => {
    const error = await failure(stream(sse([delta({ content: 'half' })], false)), { stream: true });
    expect(error.kind).toBe('connection');
  });

  test('a stream that stalls ends at the call timeout', async () => {
    const error = await failure(
      (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(sse([delta({ content: 'half' })], false));
      },
      { stream: true },
      { timeoutMs: 300 },
    );
    expect(error.kind).toBe('timeout');
    expect(error.message).toContain('300 ms');
  });

  test('a stream aborted by the caller is aborted, not a short answer, and the endpoint sees it', async () => {
    const controller = new AbortController();
    endpoint = await startEndpoint((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(sse([delta({ content: 'half' }, 'stop')], false));
    });
    let readings = 0;
    // Read at the start and at the first token: there the caller gives up, in the middle of the stream.
    const clock = (): number => {
      readings += 1;
      if (readings === 2) controller.abort();
      return readings;
    };
    const client = createModelClient({ baseUrl: endpoint.baseUrl, apiKey: KEY, clock });
    const call = client.complete({ ...REQUEST, stream: true }, { signal: controller.signal, timeoutMs: 10_000 });
    await expect(call).rejects.toMatchObject({ kind: 'aborted' });
    expect(readings).toBe(2);
    await endpoint.clientGone;
  });

  test('a socket cut in the middle of a stream is a connection error', async () => {
    const error = await failure(
      (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(sse([delta({ content: 'half' })], false), () => response.destroy());
      },
      { stream: true },
    );
    expect(error.kind).toBe('connection');
  });

  test('an event that is not JSON is an invalid reply', async () => {
    const error = await failure(stream(sse(['{broken'])), { stream: true });
    expect(error.kind).toBe('invalid_reply');
  });

  test.each([
    ['context_length_exceeded', 'context_length'],
    ['rate_limit_exceeded', 'rate_limit'],
    ['insufficient_quota', 'quota'],
    ['server_error', 'server_error'],
  ])('an error event %s inside a stream is %s', async (code, kind) => {
    const error = await failure(stream(sse([delta({ content: 'x' }), apiError(code)])), { stream: true });
    expect(error.kind).toBe(kind);
  });

  test('a stream longer than the limit is refused', async () => {
    const error = await failure(
      stream(sse([delta({ content: 'x'.repeat(2_000) })])),
      { stream: true },
      { maxReplyBytes: 1_000 },
    );
    expect(error.kind).toBe('invalid_reply');
  });
});

describe('failures', () => {
  test.each<[string, number, unknown, string]>([
    ['R5: 429 with insufficient_quota is a quota, not a rate limit', 429, apiError('insufficient_quota'), 'quota'],
    ['R5: 402', 402, { error: { message: 'Insufficient Balance' } }, 'quota'],
    ['R7: 500', 500, apiError('internal'), 'server_error'],
    ['R7: 502 with an HTML page', 502, '<html>bad gateway</html>', 'server_error'],
    ['R7: 503 overloaded', 503, { error: { message: 'The server is overloaded' } }, 'overloaded'],
    ['R7: 529', 529, { error: { type: 'overloaded_error' } }, 'overloaded'],
    ['R7: 408', 408, '', 'timeout'],
    ['R7: 409', 409, '', 'server_error'],
    ['R6: 429', 429, apiError('rate_limit_exceeded'), 'rate_limit'],
    ['R8: 401', 401, apiError('invalid_api_key'), 'unauthorized'],
    ['R8: 403', 403, apiError('permission_denied'), 'forbidden'],
    ['R8: 404 model not found', 404, apiError('model_not_found', 'The model `m` does not exist'), 'model_not_found'],
    ['R8: 400 for an unknown model', 400, apiError('', 'The model `m` does not exist'), 'model_not_found'],
    ['R9: context length', 400, apiError('context_length_exceeded'), 'context_length'],
    [
      'R9: context length by message',
      400,
      { object: 'error', message: "This model's maximum context length is 4096 tokens", code: 400 },
      'context_length',
    ],
    ['R9: 413', 413, '', 'context_length'],
    ['R9: content filter', 400, apiError('content_filter'), 'content_filter'],
    [
      'R9: content filter by message',
      400,
      apiError('', "filtered due to the prompt triggering Azure OpenAI's content management policy"),
      'content_filter',
    ],
    ['bad request', 400, apiError('invalid_type', 'temperature must be a number'), 'bad_request'],
    ['unprocessable', 422, { detail: 'nope' }, 'bad_request'],
    [
      'a parameter the model does not take is not a missing model',
      400,
      apiError('', 'For model `m` the parameter temperature = 0 is not supported'),
      'bad_request',
    ],
    ['J10: HTML error page with status 200', 200, '<!doctype html><p>busy</p>', 'invalid_reply'],
    ['J10: empty body with status 200', 200, '', 'invalid_reply'],
    ['broken JSON', 200, '{"choices": [', 'invalid_reply'],
    ['no choices', 200, { choices: [] }, 'invalid_reply'],
    ['an error with status 200', 200, { error: { code: 429, message: 'slow down' } }, 'rate_limit'],
  ])('%s', async (_name, status, body, kind) => {
    const error = await failure(fail(status, body));
    expect(error.kind).toBe(kind);
    // No retries of the package's own.
    expect(endpoint?.bodies).toHaveLength(1);
    expect(error.message).not.toBe('');
  });

  test('R6: the wait asked for comes with the error', async () => {
    const error = await failure(fail(429, apiError('rate_limit_exceeded'), { 'retry-after': '2' }));
    expect(error).toMatchObject({ kind: 'rate_limit', status: 429, retryAfterMs: 2_000 });
  });

  test('x-should-retry: false ends retries of a 500; true retries an unclear 400', async () => {
    expect((await failure(fail(500, '', { 'x-should-retry': 'false' }))).kind).toBe('bad_request');
    await endpoint?.close();
    expect((await failure(fail(400, '', { 'x-should-retry': 'true' }))).kind).toBe('server_error');
    await endpoint?.close();
    expect((await failure(fail(401, '', { 'x-should-retry': 'true' }))).kind).toBe('unauthorized');
  });

  test('a refused key never shows in the message, even when the endpoint echoes it', async () => {
    const error = await failure(fail(401, apiError('invalid_api_key', `Incorrect API key provided: ${KEY}`)));
    expect(JSON.stringify([error.message, error.cause, error.stack])).not.toContain(KEY);
    await endpoint?.close();
    const html = await failure(fail(200, `<p>${KEY}</p>`));
    expect(html.message).not.toContain(KEY);
  });

  test('R8: the message says what to do', async () => {
    const error = await failure(fail(401, apiError('invalid_api_key')));
    expect(error.message).toContain(endpoint?.baseUrl);
    expect(error.message).toContain('OPENAI_API_KEY');
  });

  test('a body cut in the middle is a connection error', async () => {
    const error = await failure((response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
      response.write('{"choices"', () => response.destroy());
    });
    expect(error.kind).toBe('connection');
  });

  test('a socket closed before the reply is a connection error', async () => {
    const error = await failure((response) => response.destroy());
    expect(error.kind).toBe('connection');
  });

  test('a refused connection is a connection error that names the cause', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    const client = createModelClient({ baseUrl: `http://127.0.0.1:${port}/v1`, apiKey: KEY });
    const call = client.complete(REQUEST, { signal: new AbortController().signal, timeoutMs: 5_000 });
    await expect(call).rejects.toMatchObject({ kind: 'connection', message: expect.stringContaining('ECONNREFUSED') });
  });

  test('the time is kept, whatever becomes of the connection', async () => {
    const never = (): Promise<Response> => new Promise(() => undefined);
    const client = createModelClient({ baseUrl: 'http://127.0.0.1:9/v1', apiKey: KEY, fetch: never });
    const call = client.complete(REQUEST, { signal: new AbortController().signal, timeoutMs: 30 });
    await expect(call).rejects.toMatchObject({ kind: 'timeout', message: expect.stringContaining('within 30 ms') });
  });

  test.each(['sk-canary\nbroken', 'sk-评价-canary', 'sk canary'])(
    'a key no header can carry is refused unseen',
    async (key) => {
      const client = createModelClient({ baseUrl: 'http://127.0.0.1:9/v1', apiKey: key });
      const error: ModelError = await client
        .complete(REQUEST, { signal: new AbortController().signal, timeoutMs: 5_000 })
        .then(
          () => expect.fail('answered'),
          (reason: unknown) => reason as ModelError,
        );
      expect(error.kind).toBe('unauthorized');
      expect(JSON.stringify([error.message, error.stack])).not.toContain('canary');
    },
  );

  test('a key cut by the limit of a message does not show in part', async () => {
    const error = await failure(fail(400, apiError('x', `${'x'.repeat(490)}${KEY}`)));
    expect(error.message).not.toContain(KEY.slice(0, 8));
  });

  test('a key an answer echoes is not in the reply: not in texts, not in arguments, not over chunks', async () => {
    const quoted = { id: 'c', type: 'function', function: { name: 'f', arguments: JSON.stringify({ key: KEY }) } };
    const reply = await ask((response) =>
      sendJson(response, completion({ content: `key ${KEY}.`, tool_calls: [quoted] })),
    );
    expect(reply.content).toBe('key [api key withheld by Assay].');
    expect(JSON.stringify(reply)).not.toContain(KEY);
    expect(reply.tool_calls).toMatchObject([{ function: { arguments: '{"key":"[api key withheld by Assay]"}' } }]);
    await endpoint?.close();
    const text = sse([delta({ content: `key ${KEY.slice(0, 9)}` }), delta({ content: `${KEY.slice(9)}.` }, 'stop')]);
    const streamed = await ask(
      (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.end(text);
      },
      { stream: true },
    );
    expect(streamed.content).toBe('key [api key withheld by Assay].');
  });

  test('a short key is a word, and words are kept', async () => {
    endpoint = await startEndpoint((response) => sendJson(response, completion({ content: 'ollama says hi' })));
    const client = createModelClient({ baseUrl: endpoint.baseUrl, apiKey: 'ollama' });
    const reply = await client.complete(REQUEST, { signal: new AbortController().signal, timeoutMs: 5_000 });
    expect(reply.content).toBe('ollama says hi');
  });

  test('a user, password or query in the base URL is refused unseen', () => {
    for (const baseUrl of ['http://me:s3cret@host/v1', 'http://s3cret@host/v1', 'http://host/v1?key=s3cret']) {
      try {
        createModelClient({ baseUrl, apiKey: null });
        expect.fail('accepted');
      } catch (error) {
        expect(error).toBeInstanceOf(UserError);
        expect((error as UserError).message).not.toContain('s3cret');
      }
    }
  });

  test('no headers, and a body that stalls, end at the call timeout', async () => {
    expect((await failure(() => {}, {}, { timeoutMs: 300 })).kind).toBe('timeout');
    await endpoint?.close();
    const stalled = await failure(
      (response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.write('{');
      },
      {},
      { timeoutMs: 300 },
    );
    expect(stalled.kind).toBe('timeout');
  });

  test('an aborted call rejects as aborted and closes the connection', async () => {
    const controller = new AbortController();
    const error = await failure(() => controller.abort(), {}, { signal: controller.signal });
    expect(error.kind).toBe('aborted');
    await endpoint?.clientGone;
  });

  test('a signal aborted before the call sends nothing', async () => {
    const error = await failure(fail(200, completion({ content: 'x' })), {}, { signal: AbortSignal.abort() });
    expect(error.kind).toBe('aborted');
    expect(endpoint?.bodies).toHaveLength(0);
  });

  test('a body over the limit is refused', async () => {
    const error = await failure(fail(200, completion({ content: 'x'.repeat(5_000) })), {}, { maxReplyBytes: 1_000 });
    expect(error.kind).toBe('invalid_reply');
  });

  test('a base URL that is none is a user error', () => {
    expect(() => createModelClient({ baseUrl: 'localhost:1234/v1', apiKey: null })).toThrow(UserError);
    expect(() => createModelClient({ baseUrl: 'api', apiKey: null })).toThrow(UserError);
  });
});
