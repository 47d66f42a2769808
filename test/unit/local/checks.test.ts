import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterEach, expect, test } from 'vitest';
import { renderChecks } from '../../../src/commands/stack/doctor.ts';
import { fail, ok, redact } from '../../../src/local/check.ts';
import { checkFolder, checkNode, checkSpace, checkTemporalBinary } from '../../../src/local/check-machine.ts';
import { checkModel } from '../../../src/local/check-model.ts';
import { checkPostgres } from '../../../src/local/check-postgres.ts';
import { checkTemporal } from '../../../src/local/check-temporal.ts';
import { diagnose } from '../../../src/local/doctor.ts';

const KEY = 'sk-canary-0123456789';
const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

async function endpoint(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

test.each([
  ['20.19.0', 'fail'],
  ['22.11.9', 'fail'],
  ['22.12.0', 'ok'],
  ['24.21.0', 'ok'],
])('Node %s: %s', (version, status) => {
  expect(checkNode(version).status).toBe(status);
});

test.each([
  [10, 'fail'],
  [500, 'warn'],
  [50_000, 'ok'],
])('%i MB free: %s', (megabytes, status) => {
  expect(checkSpace('/x', megabytes).status).toBe(status);
});

test('a folder that does not exist yet is judged by the nearest one that does', () => {
  expect(checkFolder(join(tmpdir(), 'not', 'there', 'yet')).detail).toMatch(/is writable/);
});

test('no Temporal CLI: says where it would come from', () => {
  const check = checkTemporalBinary({ PATH: '', XDG_CACHE_HOME: '/nowhere' });
  expect(check.status).toBe('warn');
  expect(check.detail).toMatch(/downloads it/);
  expect(() => checkTemporalBinary({ ASSAY_TEMPORAL_BIN: '/nowhere/temporal' })).toThrow(/not an executable/);
});

test.each([
  [200, 'ok', /key accepted/],
  [401, 'fail', /refuses the key/],
  [403, 'fail', /refuses the key/],
  [404, 'warn', /lists no models/],
  [429, 'warn', /limits us/],
  [503, 'fail', /HTTP 503/],
])('model endpoint answers %i: %s', async (status, expected, detail) => {
  let path = '';
  let authorization: string | undefined;
  const base = await endpoint((request, response) => {
    path = request.url ?? '';
    authorization = request.headers.authorization;
    response.writeHead(status).end('{}');
  });
  const check = await checkModel({ OPENAI_BASE_URL: `${base}/`, OPENAI_API_KEY: KEY });
  expect(check.status).toBe(expected);
  expect(check.detail).toMatch(detail);
  expect(path).toBe('/v1/models');
  expect(authorization).toBe(`Bearer ${KEY}`);
  expect(JSON.stringify(check)).not.toContain(KEY);
});

test('an endpoint that wants a key and got none says so', async () => {
  const base = await endpoint((_, response) => response.writeHead(401).end());
  expect((await checkModel({ OPENAI_BASE_URL: base })).detail).toMatch(/wants a key/);
});

test('an endpoint that does not answer, is not there, or is no address', async () => {
  const silent = await endpoint(() => undefined);
  expect((await checkModel({ OPENAI_BASE_URL: silent }, 50)).detail).toMatch(/no answer in time/);
  const base = await endpoint(() => undefined);
  servers.splice(0).forEach((server) => server.closeAllConnections());
  expect((await checkModel({ OPENAI_BASE_URL: base.replace(/:\d+/, ':2') }, 2000)).status).toBe('fail');
  expect((await checkModel({ OPENAI_BASE_URL: 'api.openai.com' })).detail).toMatch(/not an http/);
  expect((await checkModel({})).status).toBe('warn');
});

test('D9: a key quoted inside the address is not shown', async () => {
  const base = await endpoint((_, response) => response.writeHead(500).end());
  const check = await checkModel({ OPENAI_BASE_URL: `${base}/${KEY}`, OPENAI_API_KEY: KEY });
  expect(JSON.stringify(check)).not.toContain(KEY);
});

test('an unreachable Postgres is named without its password', async () => {
  const checks = await checkPostgres({ DATABASE_URL: `postgresql://me:${KEY}@127.0.0.1:1/results` }, '/nowhere');
  expect(checks).toMatchObject([{ status: 'fail', detail: expect.stringContaining('127.0.0.1:1/results') }]);
  expect(JSON.stringify(checks)).not.toContain(KEY);
  const wrong = await checkPostgres({ DATABASE_URL: `nonsense ${KEY}` }, '/nowhere');
  expect(wrong).toMatchObject([{ status: 'fail' }]);
  expect(JSON.stringify(wrong)).not.toContain(KEY);
});

test('an unreachable Temporal is named; an embedded stack that is not running is in order', async () => {
  const checks = await checkTemporal({ TEMPORAL_ADDRESS: '127.0.0.1:1', TEMPORAL_CONFIG_FILE: '/nowhere' }, '/nowhere');
  expect(checks).toMatchObject([{ status: 'fail', detail: expect.stringContaining('127.0.0.1:1') }]);
  expect(await checkTemporal({}, '/nowhere')).toMatchObject([{ status: 'ok' }]);
  expect(await checkPostgres({}, '/nowhere')).toMatchObject([{ status: 'ok' }]);
});

test('a check that breaks is a finding, and the others are still made', async () => {
  const env = { PATH: process.env['PATH'], ASSAY_TEMPORAL_BIN: '/nowhere/temporal' };
  const checks = await diagnose(env, join(tmpdir(), 'none'));
  expect(checks.find((check) => check.name === 'Temporal CLI')).toMatchObject({
    status: 'fail',
    hint: expect.stringMatching(/Correct the path/),
  });
  expect(checks.map((check) => check.name)).toContain('Model endpoint');
});

test('redact leaves no secret, whatever the text', () => {
  fc.assert(
    fc.property(fc.string(), fc.string({ minLength: 4 }), fc.string(), (before, secret, after) => {
      fc.pre(!'***'.includes(secret) && !secret.includes('*'));
      expect(redact(before + secret + after, [secret])).not.toContain(secret);
    }),
  );
  expect(redact('connect postgresql://me:pass@host/db failed', [])).toBe('connect postgresql://me:***@host/db failed');
});

test('lines are aligned, remedies stand below', () => {
  expect(renderChecks([ok('Node', '24.1.0'), fail('Temporal', 'gone', 'start it')])).toBe(
    'ok    Node      24.1.0\nfail  Temporal  gone\n                → start it\n',
  );
});
