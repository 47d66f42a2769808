import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, expect, test } from 'vitest';
import {
  BodyTooLargeError,
  createGuardedFetch,
  type GuardedFetchOptions,
} from '../../../../src/agents/guarded-http/guarded-fetch.ts';
import { BlockedTargetError } from '../../../../src/agents/guarded-http/target-rules.ts';

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const guarded = (typed: string, more: Partial<GuardedFetchOptions> = {}): typeof fetch =>
  createGuardedFetch({ typed: new URL(typed), allowPrivate: false, maxBytes: 1_000, ...more });

test.each([
  'http://169.254.169.254/latest/meta-data',
  'http://[::ffff:169.254.169.254]/',
  'http://[fe80::1]/',
  'http://10.0.0.1/',
  'http://0x7f000001/',
  'http://2130706433/',
  'http://127.1/',
  'http://localhost:1/',
  'file:///etc/passwd',
  'http://user:password@example.com/',
])('no request is sent to %s', async (url) => {
  await expect(guarded('https://agent.example/card.json')(url)).rejects.toThrow(BlockedTargetError);
});

test('the typed loopback address is allowed for its own host and port alone', async () => {
  const own = await serve((_req, res) => res.end('own'));
  const other = await serve((_req, res) => res.end('other'));
  const fetchOwn = guarded(own);
  expect(await (await fetchOwn(`${own}/x`)).text()).toBe('own');
  await expect(fetchOwn(`${other}/x`)).rejects.toThrow(BlockedTargetError);
  expect(await (await guarded(own, { allowPrivate: true })(`${other}/x`)).text()).toBe('other');
  await expect(guarded(own, { trustLoopback: false })(own)).rejects.toThrow(BlockedTargetError);
});

test('a name is checked by every address it resolves to, and connected to where it was checked', async () => {
  const own = await serve((_req, res) => res.end('reached'));
  const { port } = new URL(own);
  const named = `http://agent.example:${port}/`;
  const resolve = (...addresses: string[]): NonNullable<GuardedFetchOptions['resolve']> => {
    return () => Promise.resolve(addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })));
  };
  // One bad address among good ones is enough.
  const both = guarded(named, { resolve: resolve('93.184.216.34', '169.254.169.254') });
  await expect(both(named)).rejects.toThrow(BlockedTargetError);
  // A typed name that merely leads to this machine was not typed as this machine.
  await expect(guarded(named, { resolve: resolve('127.0.0.1') })(named)).rejects.toThrow(BlockedTargetError);
  const allowed = guarded(named, { resolve: resolve('127.0.0.1'), allowPrivate: true });
  expect(await (await allowed(named)).text()).toBe('reached');
});

test('redirects are checked anew, and there is an end to them', async () => {
  const other = await serve((_req, res) => res.end('secret'));
  const own: string = await serve((req, res) => {
    const targets: Record<string, string> = {
      '/out': 'http://169.254.169.254/latest/meta-data',
      '/mapped': 'http://[::ffff:a9fe:a9fe]/',
      '/other': other,
      '/loop': '/loop',
      '/ok': '/end',
    };
    const target = targets[req.url ?? ''];
    if (target === undefined) res.end('end');
    else res.writeHead(302, { location: target }).end();
  });
  const fetchOwn = guarded(own);
  for (const path of ['/out', '/mapped', '/other']) {
    await expect(fetchOwn(own + path), path).rejects.toThrow(BlockedTargetError);
  }
  await expect(fetchOwn(`${own}/loop`)).rejects.toThrow('more than 5 redirects');
  expect(await (await fetchOwn(`${own}/ok`)).text()).toBe('end');
  await expect(fetchOwn(`${own}/ok`, { method: 'POST', body: '{}' })).rejects.toThrow('redirects a POST');
});

test('the credential goes to the typed host only', async () => {
  const seen: (string | undefined)[] = [];
  const own: string = await serve((req, res) => {
    seen.push(req.headers.authorization);
    res.end();
  });
  const options = { authorization: 'Bearer t', allowPrivate: true };
  await guarded(own, options)(own);
  await guarded('http://127.0.0.2:1/', options)(own);
  // What a caller of fetch sets is not passed on either.
  await guarded('http://127.0.0.2:1/', options)(own, { headers: { authorization: 'Bearer t' } });
  expect(seen).toEqual(['Bearer t', undefined, undefined]);
});

test('a body of a gigabyte is given up as soon as it is too long, said or not', async () => {
  let written = 0;
  const own = await serve((req, res) => {
    if (req.url === '/said') res.writeHead(200, { 'content-length': 1_000_000_000 });
    const chunk = Buffer.alloc(64 * 1024, 120);
    const more = (): void => {
      while (!res.destroyed && res.write(chunk)) written += chunk.length;
      if (!res.destroyed) res.once('drain', more);
    };
    more();
  });
  const fetchOwn = guarded(own);
  await expect(fetchOwn(`${own}/said`)).rejects.toThrow(BodyTooLargeError);
  const response = await fetchOwn(`${own}/unsaid`);
  await expect(response.text()).rejects.toThrow('longer than 1000 bytes');
  expect(written).toBeLessThan(50_000_000);
});

test('a packed body is refused: it may be a thousand times longer than it looks', async () => {
  const asked: unknown[] = [];
  const own = await serve((req, res) => {
    asked.push(req.headers['accept-encoding']);
    res.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('x'.repeat(10_000)));
  });
  await expect(guarded(own)(own)).rejects.toThrow('packed (gzip)');
  expect(asked).toEqual(['identity']);
});

test('a slow drip ends with its deadline, whatever it keeps alive', async () => {
  const gone = Promise.withResolvers<void>();
  const own = await serve((_req, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    const timer = setInterval(() => res.write(': keep-alive\n\n'), 20);
    res.on('close', () => {
      clearInterval(timer);
      gone.resolve();
    });
  });
  const response = await guarded(own)(own, { signal: AbortSignal.timeout(150) });
  await expect(response.text()).rejects.toThrow();
  await gone.promise;
});

test('a reply that is cut in the middle is an error, not a short reply', async () => {
  const own = await serve((_req, res) => {
    res.writeHead(200, { 'content-length': 100 });
    res.write('half', () => res.destroy());
  });
  const response = await guarded(own)(own);
  await expect(response.text()).rejects.toThrow();
});
