import { execFile } from 'node:child_process';
import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, createServer as createNetServer, type Socket } from 'node:net';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompressSync, createGzip, deflateSync, gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from 'vitest';
import { createGuardedFetch } from '../../../src/agents/guarded-http/guarded-fetch.ts';
import { httpFetch } from '../../../src/agents/openai/http-fetch.ts';

let server: Server | undefined;
let sockets: Set<Socket>;
let stopRaw = (): Promise<void> => Promise.resolve();
afterEach(async () => {
  await stopRaw();
  stopRaw = () => Promise.resolve();
  const closing = server;
  server = undefined;
  if (closing === undefined) return;
  await new Promise((resolve) => {
    closing.close(resolve);
    closing.closeAllConnections();
  });
});

async function serve(listener: RequestListener): Promise<string> {
  sockets = new Set();
  const listening = createServer(listener).on('connection', (socket: Socket) => sockets.add(socket));
  server = listening;
  await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(listening.address() as AddressInfo).port}/v1`;
}

const POST = {
  method: 'POST',
  headers: { 'content-type': 'application/json', 'x-own': 'ä'.normalize('NFC') },
  body: '{"n":1}',
};

test('sends method, headers and body with its length; gives status, headers and body', async () => {
  const url = await serve((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const { method, headers } = request;
      response.writeHead(418, { 'set-cookie': ['a=1', 'b=2'], 'x-request-id': 'r-1' });
      response.end(
        JSON.stringify({
          method,
          length: headers['content-length'],
          type: headers['content-type'],
          body: Buffer.concat(parts).toString(),
        }),
      );
    });
  });
  const response = await httpFetch(url, POST);
  expect(response.status).toBe(418);
  expect(response.headers.get('x-request-id')).toBe('r-1');
  expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
  expect(await response.json()).toEqual({ method: 'POST', length: '7', type: 'application/json', body: '{"n":1}' });
});

test('one connection serves one call after the other; a call after it was closed opens another', async () => {
  const url = await serve((_, response) => response.end('ok'));
  for (let call = 0; call < 3; call += 1) expect(await (await httpFetch(url, POST)).text()).toBe('ok');
  expect(sockets.size).toBe(1);
  server?.closeIdleConnections();
  // Its end reaches this side within a few turns of the loop.
  for (let turn = 0; turn < 50; turn += 1) await setImmediate();
  expect(await (await httpFetch(url, POST)).text()).toBe('ok');
  expect(sockets.size).toBe(2);
});

test.each([
  ['gzip', gzipSync],
  ['deflate', deflateSync],
  ['br', brotliCompressSync],
  ['Identity', (text: string) => Buffer.from(text)],
])('a body packed as %s is unpacked, though none was asked for', async (encoding, pack) => {
  let asked: string | undefined;
  const url = await serve((request, response) => {
    asked = request.headers['accept-encoding'];
    response.writeHead(200, { 'content-encoding': encoding }).end(pack('{"packed":true}'));
  });
  expect(await (await httpFetch(url, POST)).json()).toEqual({ packed: true });
  expect(asked).toBeUndefined();
});

test('a body that is not what its encoding says is an error, not a hang', async () => {
  const url = await serve((_, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end('plain'));
  await expect((await httpFetch(url, POST)).text()).rejects.toThrow();
});

test.each([307, 308])('a redirect with status %i is followed with method and body', async (status) => {
  const seen: string[] = [];
  const url = await serve((request, response) => {
    seen.push(`${request.method} ${request.url}`);
    if (request.url === '/v1') response.writeHead(status, { location: '/v2' }).end();
    else request.pipe(response);
  });
  expect(await (await httpFetch(url, POST)).text()).toBe('{"n":1}');
  expect(seen.at(-1)).toBe('POST /v2');
});

test('a reply without a body', async () => {
  const url = await serve((_, response) => response.writeHead(204).end());
  const response = await httpFetch(url, POST);
  expect([response.status, await response.text()]).toEqual([204, '']);
});

test('where Node is told to use the proxy of the environment, calls go through it', async () => {
  const asked: (string | undefined)[] = [];
  const url = await serve((request, response) => {
    asked.push(request.url);
    response.end('from the proxy');
  });
  const code = path.resolve('src/agents/openai/http-fetch.ts');
  const program = `
    import { httpFetch } from ${JSON.stringify(pathToFileURL(code).href)};
    const response = await httpFetch('http://model.invalid/v1', { method: 'POST', body: '{}' });
    console.log(await response.text());`;
  const env = { ...process.env, NODE_USE_ENV_PROXY: '1', HTTP_PROXY: new URL(url).origin, NO_PROXY: '' };
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], { env });
  expect([stdout.trim(), asked]).toEqual(['from the proxy', ['http://model.invalid/v1']]);
});

/** A server that answers a request with these bytes at once, in one segment. */
async function serveRaw(bytes: string): Promise<string> {
  const raw = createNetServer((socket) => socket.on('error', () => undefined).once('data', () => socket.write(bytes)));
  const open = new Set<Socket>();
  raw.on('connection', (socket) => open.add(socket));
  stopRaw = async () => {
    for (const socket of open) socket.destroy();
    await new Promise((resolve) => raw.close(resolve));
  };
  await new Promise<void>((resolve) => raw.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(raw.address() as AddressInfo).port}/v1`;
}

describe.each([
  ['httpFetch', httpFetch],
  ['the guarded fetch', (url: string, init: RequestInit) => guarded(url)(url, init)],
])('%s: what fails together with the head of the reply is an error, not a wait without end', (_, ask) => {
  test.each([
    ['a broken chunk', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nbody'],
    ['a body longer than its length', 'HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nbody and more'],
    ['a change of protocol', 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'],
    ['a status nobody knows', 'HTTP/1.1 999 Odd\r\ncontent-length: 4\r\n\r\nbody'],
    ['no HTTP', 'SSH-2.0-OpenSSH\r\n'],
  ])('%s', async (_what, bytes) => {
    const url = await serveRaw(bytes);
    await expect(ask(url, POST).then((response) => response.text())).rejects.toThrow(Error);
  });
});

const guarded = (url: string): typeof fetch =>
  createGuardedFetch({ typed: new URL(url), allowPrivate: true, maxBytes: 1_000_000 });

test.each(['', 'none', 'utf-8', 'chunked'])('content-encoding "%s" packs nothing', async (encoding) => {
  const url = await serve((_, response) => response.writeHead(200, { 'content-encoding': encoding }).end('plain'));
  expect(await (await httpFetch(url, POST)).text()).toBe('plain');
});

test.each([{ 'content-length': '0' }, {}])('a packed reply without a body (%j) is empty', async (headers) => {
  const url = await serve((_, response) => {
    response.writeHead(500, { 'content-encoding': 'gzip', ...headers });
    response.end();
  });
  const response = await httpFetch(url, POST);
  expect([response.status, await response.text()]).toEqual([500, '']);
});

test('packed events arrive one by one', async () => {
  let next = (): void => undefined;
  const url = await serve((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' });
    const pack = createGzip();
    pack.pipe(response);
    pack.write('data: 1\n\n');
    pack.flush();
    next = () => pack.end('data: 2\n\n');
  });
  const texts: string[] = [];
  for await (const part of (await httpFetch(url, POST)).body as AsyncIterable<Uint8Array>) {
    texts.push(new TextDecoder().decode(part));
    next();
  }
  expect(texts).toEqual(['data: 1\n\n', 'data: 2\n\n']);
});

test('a reply larger than what is held at once comes whole', async () => {
  const large = '评'.repeat(400_000);
  const url = await serve((_, response) => response.end(large));
  expect(await (await httpFetch(url, POST)).text()).toBe(large);
});

describe('failures', () => {
  test('nobody listens: a TypeError whose cause is the refusal', async () => {
    const url = await serve(() => undefined);
    await new Promise((resolve) => server?.close(resolve));
    server = undefined;
    const error = await httpFetch(url, POST).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(TypeError);
    expect(error).toMatchObject({ message: 'fetch failed', cause: { code: 'ECONNREFUSED', syscall: 'connect' } });
  });

  test('the connection is closed before the reply', async () => {
    const url = await serve((request) => request.socket.destroy());
    await expect(httpFetch(url, POST)).rejects.toMatchObject({
      message: 'fetch failed',
      cause: { code: 'ECONNRESET' },
    });
  });

  test.each([
    ['with a length', { 'content-length': '1000' }],
    ['in chunks', {}],
    ['packed', { 'content-encoding': 'gzip' }],
  ])('a body that is cut, sent %s, is an error and not an end', async (_, headers) => {
    const url = await serve((request, response) => {
      response.writeHead(200, headers);
      response.write(gzipSync('x'.repeat(100)).subarray(0, 20), () => request.socket.destroySoon());
    });
    const response = await httpFetch(url, POST);
    await expect(response.text()).rejects.toThrow();
  });

  test('aborted before, while it waits for the reply, and in the middle of the body', async () => {
    let begin: () => void = () => undefined;
    const closed: Promise<unknown>[] = [];
    const url = await serve((request, response) => {
      closed.push(new Promise((resolve) => request.socket.once('close', resolve)));
      if (request.headers['x-part'] === 'yes') response.writeHead(200).write('part');
      begin();
    });
    const gone = new AbortController();
    gone.abort();
    await expect(httpFetch(url, { ...POST, signal: gone.signal })).rejects.toMatchObject({ name: 'AbortError' });
    expect(closed).toHaveLength(0);

    const waiting = new AbortController();
    const begun = new Promise<void>((resolve) => (begin = resolve));
    const call = httpFetch(url, { ...POST, signal: waiting.signal });
    await begun;
    waiting.abort();
    await expect(call).rejects.toMatchObject({ name: 'AbortError' });

    const reading = new AbortController();
    const response = await httpFetch(url, { ...POST, headers: { 'x-part': 'yes' }, signal: reading.signal });
    const text = response.text();
    reading.abort();
    await expect(text).rejects.toMatchObject({ name: 'AbortError' });
    // Both connections are let go: an endpoint goes on generating as long as somebody listens.
    await Promise.all(closed);
    expect(closed).toHaveLength(2);
  });

  test('a body nobody reads on is let go', async () => {
    let closed: Promise<unknown> | undefined;
    const url = await serve((request, response) => {
      closed = new Promise((resolve) => request.socket.once('close', resolve));
      response.writeHead(200).write('part');
    });
    const response = await httpFetch(url, POST);
    await response.body?.cancel();
    await closed;
  });
});
