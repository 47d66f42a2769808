import { Connection } from '@temporalio/client';
import proto from '@temporalio/proto';
import { sql } from 'kysely';
import { expect, inject, test } from 'vitest';
import { readConfig } from '../../../src/config.ts';
import { connect } from '../../../src/db/connect.ts';
import { startWorker, type WorkerOptions } from '../../../src/worker.ts';
import { createTestDatabase } from '../../fixtures/database.ts';

const { TaskQueueType } = proto.temporal.api.enums.v1;

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

test('a worker takes up no work before its database is ready; where that fails, so does the start', async () => {
  const database = await createTestDatabase();
  const connection = await Connection.connect({ address: inject('temporalAddress') });
  const optionsOf = (queue: string): WorkerOptions => ({
    config: readConfig({ ASSAY_TASK_QUEUE: queue }, process.cwd()),
    databaseUrl: database.url,
    connectionOptions: { address: inject('temporalAddress') },
    cwd: process.cwd(),
    log: () => undefined,
  });
  const polls = async (queue: string): Promise<boolean> => {
    const task = {
      namespace: 'default',
      taskQueue: { name: queue },
      taskQueueType: TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW,
    };
    return ((await connection.workflowService.describeTaskQueue(task)).pollers ?? []).length > 0;
  };
  try {
    const refused = new Error('the schema is of another build');
    await expect(startWorker({ ...optionsOf(database.name), ready: Promise.reject(refused) })).rejects.toBe(refused);

    const { promise, resolve } = Promise.withResolvers<void>();
    const waiting = startWorker({ ...optionsOf(database.name), ready: promise });
    // Begun later, it polls sooner.
    const other = await startWorker(optionsOf(`${database.name}-other`));
    await expect.poll(() => polls(`${database.name}-other`), { timeout: 10_000 }).toBe(true);
    expect(await polls(database.name)).toBe(false);
    resolve();
    const late = await waiting;
    await expect.poll(() => polls(database.name), { timeout: 10_000 }).toBe(true);
    await Promise.all([other.stop(), late.stop()]);
  } finally {
    await connection.close();
    await database.drop();
  }
});
