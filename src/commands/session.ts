import type { Client } from '@temporalio/client';
import type { Config } from '../config.ts';
import type { Db } from '../db/connect.ts';
import type { Stack } from '../local/stack.ts';
import type { CommandContext } from './context.ts';
import { interruptible, unlessAborted } from './interruptible.ts';
import { commandPatience } from './patience.ts';

/** A command's access to Postgres and Temporal. */
export interface Session {
  config: Config;
  stack: Stack;
  db: Db;
  client: Client;
  close(): Promise<void>;
}

/**
 * Opens the stack (starting the embedded one where none is configured), brings the schema up to date, connects.
 * @param signal gives up when it is aborted, leaving nothing behind that nobody else uses; its reason is thrown
 */
export async function openSession(context: CommandContext, signal: AbortSignal): Promise<Session> {
  const [{ readConfig }, { ensureStack }, { prepareSchema }, { connect }, { Client, Connection }] = await Promise.all([
    import('../config.ts'),
    import('../local/stack.ts'),
    import('../db/prepare-schema.ts'),
    import('../db/connect.ts'),
    import('@temporalio/client'),
  ]);
  const config = readConfig(context.env, context.cwd);
  const log = (line: string): void => context.stderr(`${line}\n`);
  const stack = await ensureStack({ home: config.home, env: context.env, log, signal });
  const patience = commandPatience(context);
  try {
    const preparing = prepareSchema(stack.databaseUrl, { embedded: stack.embedded.postgres, patience });
    const { applied } = await unlessAborted(signal, preparing);
    if (applied.length > 0) context.stderr(`database: applied ${applied.join(', ')}\n`);
    const connection = await unlessAborted(signal, Connection.connect(stack.connectionOptions));
    const db = connect(stack.databaseUrl, { poolSize: 4, patience });
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

/**
 * Opens a session for the time of one piece of work. A signal that the work does not hear itself ends it: servers that
 * nobody else uses are stopped, and the command ends with 130.
 */
export async function withSession<T>(context: CommandContext, work: (session: Session) => Promise<T>): Promise<T> {
  return interruptible(context, async (stop) => {
    const session = await openSession(context, stop.signal);
    try {
      return await unlessAborted(stop.signal, work(session));
    } finally {
      if (stop.signal.aborted) await abandon(session);
      else await session.close();
    }
  });
}

/** Work may go on with its connections, and nobody waits for it: they end with the process. */
async function abandon(session: Session): Promise<void> {
  await session.stack.release();
  session.close().catch(() => undefined);
}
