import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { isTransient, whileTransient } from '../../../src/db/transient.ts';

// vitest's fake timers leave the promise form of Node alone.
const wait = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms));

const coded = (code: string): Error => Object.assign(new Error(`failed with ${code}`), { code });

describe('isTransient', () => {
  test.each([
    '57P01',
    '57P02',
    '57P03',
    '40001',
    '40P01',
    '53300',
    '08006',
    '08001',
    'ECONNREFUSED',
    'ECONNRESET',
    'EPIPE',
    'ENOTFOUND',
    'EAI_AGAIN',
    'ENETUNREACH',
  ])('%s goes away', (code) => {
    expect(isTransient(coded(code))).toBe(true);
  });
  test.each(['23505', '42P01', '22P02', '28P01', '53100', 'ENOENT'])('%s does not', (code) => {
    expect(isTransient(coded(code))).toBe(false);
  });
  test('messages of pg without a code', () => {
    expect(isTransient(new Error('Connection terminated unexpectedly'))).toBe(true);
    expect(isTransient(new Error('timeout exceeded when trying to connect'))).toBe(true);
    expect(isTransient(new Error('Cannot use a pool after calling end on the pool'))).toBe(false);
    expect(isTransient('Connection terminated')).toBe(false);
  });
  test('one refused address of several is enough', () => {
    expect(isTransient(new AggregateError([coded('ECONNREFUSED'), coded('ENOENT')]))).toBe(true);
    expect(isTransient(new AggregateError([coded('ENOENT')]))).toBe(false);
  });
});

describe('whileTransient', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test('repeats until Postgres is back', async () => {
    let calls = 0;
    const result = whileTransient(
      () => {
        calls += 1;
        return calls < 4 ? Promise.reject(coded('57P03')) : Promise.resolve('there');
      },
      60_000,
      wait,
    );
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await result).toBe('there');
    expect(calls).toBe(4);
  });

  test('gives up after its patience with the last error', async () => {
    let calls = 0;
    const result = whileTransient(() => Promise.reject(coded(`0800${(calls += 1) % 9}`)), 5_000, wait).catch(
      (error: Error) => error.message,
    );
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await result).toMatch(/failed with 0800\d/);
    expect(calls).toBeGreaterThan(5);
    expect(calls).toBeLessThan(20);
  });

  test('other errors are thrown at once', async () => {
    const operation = vi.fn(() => Promise.reject(coded('23505')));
    await expect(whileTransient(operation)).rejects.toThrow('23505');
    expect(operation).toHaveBeenCalledTimes(1);
  });
});
