import { expect, test } from 'vitest';
import { createRateLimit } from '../../../src/server/rate-limit.ts';

test('a burst, then the rate; each client its own', () => {
  let now = 0;
  const limit = createRateLimit({ perMinute: 60, burst: 3, now: () => now });
  expect([limit.take('a'), limit.take('a'), limit.take('a')]).toEqual([0, 0, 0]);
  expect(limit.take('a')).toBe(1_000);
  expect(limit.take('b')).toBe(0);
  now = 500;
  expect(limit.take('a')).toBe(500);
  now = 1_000;
  expect(limit.take('a')).toBe(0);
  expect(limit.take('a')).toBe(1_000);
});

test('a client that was quiet has no more than its burst', () => {
  let now = 0;
  const limit = createRateLimit({ perMinute: 60, burst: 2, now: () => now });
  limit.take('a');
  now = 3_600_000;
  expect([limit.take('a'), limit.take('a'), limit.take('a') > 0]).toEqual([0, 0, true]);
});

test('many clients do not grow it without end, and the one that asks most is not forgotten first', () => {
  const limit = createRateLimit({ perMinute: 60, burst: 1, now: () => 0 });
  limit.take('busy');
  for (let index = 0; index < 20_000; index += 1) {
    limit.take(`client ${index}`);
    if (index % 1_000 === 0) expect(limit.take('busy')).toBeGreaterThan(0);
  }
});
