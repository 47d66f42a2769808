import type { CompiledQuery, DatabaseConnection, Driver } from 'kysely';
import { expect, test } from 'vitest';
import { createPatience } from '../../../src/db/patience.ts';
import { createPatientDriver, onlyReads } from '../../../src/db/patient-driver.ts';

const away = (): Error => Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:5432'), { code: 'ECONNREFUSED' });
const broken = (): Error => new Error('Connection terminated unexpectedly');

/** Patience over a clock that runs only while it waits. */
function patience(): { patiently: ReturnType<typeof createPatience>; lines: string[] } {
  const lines: string[] = [];
  let clock = 0;
  const patiently = createPatience({
    log: (line) => lines.push(line),
    now: () => clock,
    wait: (ms) => Promise.resolve((clock += ms)),
  });
  return { patiently, lines };
}

/** A driver of numbered connections; `fail` says what an event does in place of succeeding. */
function fakeDriver(fail: (event: string) => Error | null): { driver: Driver; events: string[] } {
  const events: string[] = [];
  let made = 0;
  const happen = (event: string): void => {
    events.push(event);
    const error = fail(event);
    if (error !== null) throw error;
  };
  const names = new WeakMap<DatabaseConnection, number>();
  const driver: Driver = {
    init: () => Promise.resolve(),
    async acquireConnection() {
      happen('acquire');
      const name = (made += 1);
      const connection: DatabaseConnection = {
        async executeQuery(query: CompiledQuery) {
          happen(`${name}: ${query.sql}`);
          return { rows: [] };
        },
        streamQuery: () => {
          throw new Error('not used');
        },
      };
      names.set(connection, name);
      return connection;
    },
    beginTransaction: async (connection) => happen(`${names.get(connection)}: begin`),
    commitTransaction: async (connection) => happen(`${names.get(connection)}: commit`),
    rollbackTransaction: async (connection) => happen(`${names.get(connection)}: rollback`),
    releaseConnection: async (connection) => void events.push(`${names.get(connection)}: release`),
    destroy: () => Promise.resolve(),
  };
  return { driver, events };
}

/** Fails at the first time an event happens. */
function once(event: string, error: () => Error): (happened: string) => Error | null {
  let failed = false;
  return (happened) => {
    if (failed || happened !== event) return null;
    failed = true;
    return error();
  };
}

test.each(['ENOTFOUND', 'EAI_AGAIN'])('%s is waited for only where the host was reached before', async (code) => {
  const lost = Object.assign(new Error(`getaddrinfo ${code} db`), { code });
  const { patiently, lines } = patience();
  let tries = 0;
  const failing = (failures: number, error: Error) => async (): Promise<string> => {
    if ((tries += 1) <= failures) throw error;
    return 'there';
  };
  await expect(patiently(failing(1, lost))).rejects.toBe(lost);
  expect([tries, lines]).toEqual([1, []]);
  expect(await patiently(failing(2, away()))).toBe('there');
  tries = 0;
  expect(await patiently(failing(12, lost))).toBe('there');
  expect(lines).toEqual([`waiting for Postgres, at most 30 s (getaddrinfo ${code} db)`]);
});

const query = (text: string): CompiledQuery => ({ sql: text, parameters: [] }) as unknown as CompiledQuery;

test('what is waited for is said once, after a second', async () => {
  const { patiently, lines } = patience();
  let tries = 0;
  const asked = async (): Promise<string> => {
    tries += 1;
    if (tries < 12) throw away();
    return 'there';
  };
  expect(await patiently(asked)).toBe('there');
  expect(lines).toEqual(['waiting for Postgres, at most 30 s (connect ECONNREFUSED 127.0.0.1:5432)']);
  tries = 10;
  await patiently(asked);
  expect(lines, 'a moment is not worth a word').toHaveLength(1);
});

test('a failure that is no outage is passed on at once', async () => {
  const { patiently, lines } = patience();
  let tries = 0;
  await expect(patiently(() => Promise.reject(new Error(`syntax error ${(tries += 1)}`)))).rejects.toThrow('error 1');
  expect(lines).toEqual([]);
});

test('a connection is waited for', async () => {
  let refused = 3;
  const { driver, events } = fakeDriver((event) => (event === 'acquire' && (refused -= 1) >= 0 ? away() : null));
  const patient = createPatientDriver(driver, patience().patiently);
  const connection = await patient.acquireConnection();
  await patient.releaseConnection(connection);
  expect(events).toEqual(['acquire', 'acquire', 'acquire', 'acquire', '1: release']);
});

test('a read is sent again over another connection, the broken one released first and once', async () => {
  const { driver, events } = fakeDriver(once('1: select 1', broken));
  const patient = createPatientDriver(driver, patience().patiently);
  const connection = await patient.acquireConnection();
  await connection.executeQuery(query('select 1'));
  await patient.releaseConnection(connection);
  expect(events).toEqual(['acquire', '1: select 1', '1: release', 'acquire', '2: select 1', '2: release']);
});

test('a write is never sent twice, nor a read inside a transaction; what begins one is', async () => {
  const { driver, events } = fakeDriver((event) =>
    ['1: update x', '1: begin', '2: select 1'].includes(event) ? broken() : null,
  );
  const patient = createPatientDriver(driver, patience().patiently);
  const connection = await patient.acquireConnection();
  await expect(connection.executeQuery(query('update x'))).rejects.toThrow('terminated');
  await patient.beginTransaction(connection, {});
  await expect(connection.executeQuery(query('select 1'))).rejects.toThrow('terminated');
  await patient.rollbackTransaction(connection);
  await patient.releaseConnection(connection);
  expect(events).toEqual([
    'acquire',
    '1: update x',
    '1: begin',
    '1: release',
    'acquire',
    '2: begin',
    '2: select 1',
    '2: rollback',
    '2: release',
  ]);
});

test('a connection that broke is not released twice when no other can be had', async () => {
  let refused = false;
  const { driver, events } = fakeDriver((event) => {
    if (event === '1: select 1') refused = true;
    if (event === 'acquire') return refused ? new Error('password authentication failed') : null;
    return event === '1: select 1' ? broken() : null;
  });
  const patient = createPatientDriver(driver, patience().patiently);
  const connection = await patient.acquireConnection();
  await expect(connection.executeQuery(query('select 1'))).rejects.toThrow('authentication');
  await patient.releaseConnection(connection);
  expect(events.filter((event) => event === '1: release')).toHaveLength(1);
});

test.each([
  ['select * from trial where updated_at > $1', true],
  ['  WITH a as (select 1) select * from a', true],
  ['with gone as (delete from trial returning *) select * from gone', false],
  ['select * from evaluation where id = $1 for update', false],
  ['select pg_notify($1, $2)', false],
  ["select nextval('fence')", false],
  ['select pg_advisory_xact_lock(1)', false],
  ['insert into a select 1', false],
  ['update a set b = 1', false],
])('%s: only reads: %s', (text, reads) => {
  expect(onlyReads(text)).toBe(reads);
});
