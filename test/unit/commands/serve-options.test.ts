import { expect, test } from 'vitest';
import { serveOptions } from '../../../src/commands/stack/serve-options.ts';
import { UserError } from '../../../src/core/errors.ts';

const flags = { host: '127.0.0.1', port: 8700, rateLimit: 600, maxTasks: 20, card: '0.3', worker: true } as const;
const TOKEN = '0123456789abcdef';
const log = (): void => undefined;

test('on loopback no token is needed', () => {
  for (const host of ['127.0.0.1', '::1', 'localhost']) {
    expect(serveOptions({ ...flags, host }, null, log).token).toBeNull();
  }
});

test.each(['0.0.0.0', '::', '10.0.0.5', 'assay.example', '169.254.169.254'])('on %s one is', (host) => {
  expect(() => serveOptions({ ...flags, host }, null, log)).toThrow(UserError);
  expect(serveOptions({ ...flags, host }, TOKEN, log)).toMatchObject({ host, token: TOKEN });
});

test.each(['short', 'has a space in it 123', 'ключключключключ'])('%s is no token', (token) => {
  expect(() => serveOptions(flags, token, log)).toThrow('16 or more printable ASCII');
});
