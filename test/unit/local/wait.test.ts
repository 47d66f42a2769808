import { expect, test } from 'vitest';
import { probeTemporal, waitForTemporal } from '../../../src/local/temporal-server.ts';
import { waitFor, type Clock } from '../../../src/local/wait.ts';

function fakeClock(): Clock {
  let now = 0;
  return {
    now: () => now,
    sleep: async (ms) => {
      now += ms;
    },
  };
}

test('R16: waits with a bound and says what it waits for', async () => {
  const lines: string[] = [];
  const waiting = waitFor({
    what: 'Temporal at 127.0.0.1:7233',
    probe: async () => 'connection refused',
    timeoutMs: 30_000,
    log: (line) => lines.push(line),
    hint: 'check TEMPORAL_ADDRESS',
    clock: fakeClock(),
  });
  await expect(waiting).rejects.toMatchObject({
    name: 'UserError',
    exitCode: 4,
    message: 'Waited 30 s for Temporal at 127.0.0.1:7233, in vain: connection refused',
    hint: 'check TEMPORAL_ADDRESS',
  });
  expect(lines).toEqual(['waiting for Temporal at 127.0.0.1:7233, at most 30 s (connection refused)']);
});

test('R16: a Temporal that comes up late is used, in silence when it was quick', async () => {
  const lines: string[] = [];
  let asked = 0;
  await waitFor({
    what: 'Temporal',
    probe: async () => ((asked += 1) < 10 ? 'not yet' : null),
    timeoutMs: 30_000,
    log: (line) => lines.push(line),
    hint: '',
    clock: fakeClock(),
  });
  expect(asked).toBe(10);
  expect(lines).toEqual([]);
});

test('R16: an address where nothing listens is named', async () => {
  const connectionOptions = { address: '127.0.0.1:1' };
  expect(await probeTemporal(connectionOptions, 'default')).toMatch(/nothing accepts connections/);
  const waiting = waitForTemporal({
    connectionOptions,
    address: '127.0.0.1:1',
    namespace: 'default',
    timeoutMs: 10,
    log: () => undefined,
    hint: 'check it',
  });
  await expect(waiting).rejects.toThrow(/Temporal at 127\.0\.0\.1:1/);
});

test('waiting ends at once when the process has ended', async () => {
  let asked = 0;
  const waiting = waitFor({
    what: 'postgres at 5432',
    probe: async () => {
      asked += 1;
      return 'refused';
    },
    gaveUp: () => 'it ended with code 1',
    timeoutMs: 30_000,
    log: () => undefined,
    hint: '',
    clock: fakeClock(),
  });
  await expect(waiting).rejects.toThrow('Postgres at 5432 did not start: it ended with code 1');
  expect(asked).toBe(1);
});
