import type { Client } from '@temporalio/client';
import type { Config } from '../config.ts';
import type { Db } from '../db/connect.ts';
import type { Stack } from '../local/stack.ts';
import type { CommandContext } from './context.ts';
import { interruptible, unlessAborted } from './interruptible.ts';
import { commandPatience } from './patience.ts';

/** What a command knows of its session before it is open. */
export interface OpeningSession {
  config: Config;
  stack: Stack;
}

/** A command's access to Postgres and Temporal. */
export interface Session extends OpeningSession {
  db: Db;
  client: Client;
  close(): Promise<void>;
}

/**
 * Opens the stack (starting the embedded one where none is configured), brings the schema up to date, connects.
 * @param signal gives up when it is aborted, leaving nothing behind that nobody else uses; its reason is thrown
 * @param onStack told when the addresses of both servers are known; a Postgres of the user's own may still be away, and the
 *   schema another
 */
export async function openSession(
  context: CommandContext,
  signal: AbortSignal,
  onStack: (opening: OpeningSession) => void = () => undefined,
): Promise<Session> {
  const [{ readConfig }, { ensureStack }, { prepareSchema }, { connect }, { Client, Connection }] = await Promise.all([
    import('../config.ts'),
    import('../local/stack.ts'),
    import('../db/prepare-schema.ts'),
    import('../db/connect.ts'),
    import('@temporalio/client'),
  ]);
  const environment = readConfig(context.env, context.cwd);
  const log = (line: string): void => context.stderr(`${line}\n`);
  const stack = await ensureStack({ home: environment.home, env: context.env, log, signal });
  const patience = commandPatience(context);
  const config = { ...environment, namespace: stack.namespace };
  try {
    signal.throwIfAborted();
    onStack({ config, stack });
    const preparing = prepareSchema(stack.databaseUrl, { embedded: stack.embedded.postgres, patience });
    const { applied } = await unlessAborted(signal, preparing);
    if (applied.length > 0) context.stderr(`database: applied ${applied.join(', ')}\n`);
    const connection = await unlessAborted(signal, Connection.connect(stack.connectionOptions));
    const db = connect(stack.databaseUrl, { poolSize: 4, patience });
    const client = new Client({ connection, namespace: stack.namespace });
    return {
      config,
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
 * @param work its signal is for what must not begin after a stop
 * @param onStack see {@link openSession}; told the session that is being opened, too
 */
export async function withSession<T>(
  context: CommandContext,
  work: (session: Session, stop: AbortSignal) => Promise<T>,
  onStack?: (opening: OpeningSession, session: Promise<Session>) => void,
): Promise<T> {
  return interruptible(context, async (stop) => {
    const opening: Promise<Session> = openSession(context, stop.signal, (known) => onStack?.(known, opening));
    const session = await opening;
    try {
      return await unlessAborted(stop.signal, work(session, stop.signal));
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
