import type { Client } from '@temporalio/client';
import type { Config } from '../config.ts';
import type { Db } from '../db/connect.ts';
import type { Stack } from '../local/stack.ts';
import type { CommandContext } from './context.ts';

/** A command's access to Postgres and Temporal. */
export interface Session {
  config: Config;
  stack: Stack;
  db: Db;
  client: Client;
  close(): Promise<void>;
}

/** Opens the stack (starting the embedded one where none is configured), brings the schema up to date, connects. */
export async function openSession(context: CommandContext): Promise<Session> {
  const [{ readConfig }, { ensureStack }, { prepareSchema }, { connect }, { Client, Connection }] = await Promise.all([
    import('../config.ts'),
    import('../local/stack.ts'),
    import('../db/prepare-schema.ts'),
    import('../db/connect.ts'),
    import('@temporalio/client'),
  ]);
  const config = readConfig(context.env, context.cwd);
  const stack = await ensureStack({ home: config.home, env: context.env, log: (line) => context.stderr(`${line}\n`) });
  try {
    const { applied } = await prepareSchema(stack.databaseUrl, { embedded: stack.embedded.postgres });
    if (applied.length > 0) context.stderr(`database: applied ${applied.join(', ')}\n`);
    const connection = await Connection.connect(stack.connectionOptions);
    const db = connect(stack.databaseUrl, { poolSize: 4 });
    const client = new Client({ connection, namespace: stack.namespace });
    return {
      config: { ...config, namespace: stack.namespace },
      stack,
      db,
      client,
      async close() {
        await db.destroy();
        await connection.close();
        await stack.release();
      },
    };
  } catch (error) {
    await stack.release();
    throw error;
  }
}

/** Opens a session for the time of one piece of work. */
export async function withSession<T>(context: CommandContext, work: (session: Session) => Promise<T>): Promise<T> {
  const session = await openSession(context);
  try {
    return await work(session);
  } finally {
    await session.close();
  }
}
