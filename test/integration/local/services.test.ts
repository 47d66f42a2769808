import { Client } from 'pg';
import { expect, inject, test } from 'vitest';
import { createTestDatabase } from '../../fixtures/database.ts';

test('a test database has the current schema and is gone after drop', async () => {
  const database = await createTestDatabase();
  const client = new Client({ connectionString: database.url });
  client.on('error', () => undefined);
  await client.connect();
  const tables = await client.query(`SELECT to_regclass('trial') AS trial`);
  expect(tables.rows[0].trial).toBe('trial');
  await client.end();
  await database.drop();
  await expect(new Client({ connectionString: database.url }).connect()).rejects.toThrow(/does not exist/);
});

test('the shared Temporal answers', async () => {
  expect(inject('temporalAddress')).toMatch(/^127\.0\.0\.1:\d+$/);
});
