import { sql } from 'kysely';
import { expect, inject, test } from 'vitest';
import { readConfig } from '../../../src/config.ts';
import { connect } from '../../../src/db/connect.ts';
import { startWorker } from '../../../src/worker.ts';
import { createTestDatabase } from '../../fixtures/database.ts';

test('a worker that cannot start says why once and leaves no connection to Postgres', async () => {
  const database = await createTestDatabase();
  const db = connect(database.url, { poolSize: 1 });
  const unhandled: unknown[] = [];
  const note = (error: unknown): void => void unhandled.push(error);
  process.on('unhandledRejection', note);
  try {
    const starting = startWorker({
      config: { ...readConfig({ ASSAY_TASK_QUEUE: database.name }, process.cwd()), namespace: 'nowhere' },
      databaseUrl: database.url,
      connectionOptions: { address: inject('temporalAddress') },
      cwd: process.cwd(),
      log: () => undefined,
    });
    await expect(starting).rejects.toThrow(/nowhere|namespace/i);
    await expect
      .poll(async () => {
        const others = await sql<{ n: number }>`
          select count(*) as n from pg_stat_activity
          where datname = current_database() and pid <> pg_backend_pid()`.execute(db);
        return others.rows[0]?.n;
      })
      .toBe(0);
    expect(unhandled).toEqual([]);
  } finally {
    process.off('unhandledRejection', note);
    await db.destroy();
    await database.drop();
  }
});
