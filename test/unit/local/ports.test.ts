import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { accepts, choosePort, isPortFree, portCandidates } from '../../../src/local/ports.ts';
import { hostAndPort } from '../../../src/local/temporal-server.ts';

const any = { what: 'Temporal', required: null, remembered: null, seed: 'x', avoid: new Set<number>() };

test('candidates: every port once, the same order for the same folder, below the range for outgoing connections', () => {
  fc.assert(
    fc.property(fc.string(), (seed) => {
      const ports = [...portCandidates(seed)];
      expect(new Set(ports).size).toBe(10_000);
      expect(Math.min(...ports)).toBeGreaterThanOrEqual(1024);
      expect(Math.max(...ports)).toBeLessThan(32_768);
      expect(portCandidates(seed).next().value).toBe(ports[0]);
    }),
    { numRuns: 20 },
  );
});

test('a taken port is not free; a required one is refused, a remembered one replaced', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  expect(await isPortFree(port)).toBe(false);
  expect(await accepts('127.0.0.1', port)).toBe(true);
  await expect(choosePort({ ...any, required: port })).rejects.toMatchObject({
    exitCode: 4,
    message: `Port ${port} for Temporal is taken by another process.`,
  });
  expect(await choosePort({ ...any, remembered: port })).not.toBe(port);
  server.close();
  await once(server, 'close');
  expect(await isPortFree(port)).toBe(true);
  expect(await accepts('127.0.0.1', port)).toBe(false);
  expect(await choosePort({ ...any, remembered: port })).toBe(port);
  expect(await choosePort({ ...any, remembered: port, avoid: new Set([port]) })).not.toBe(port);
});

test.each([
  ['localhost', 'localhost', 7233],
  ['temporal:17233', 'temporal', 17233],
  ['[::1]:7000', '::1', 7000],
  ['my-ns.acct.tmprl.cloud:7233', 'my-ns.acct.tmprl.cloud', 7233],
])('address %s', (address, host, port) => {
  expect(hostAndPort(address)).toEqual({ host, port });
});
