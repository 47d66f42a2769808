import type { Config } from '../config.ts';
import { EXIT, UserError } from '../core/errors.ts';
import type { Db } from '../db/connect.ts';
import type { Patience } from '../db/patience.ts';
import type { CommandContext } from './context.ts';
import { interruptible, unlessAborted } from './interruptible.ts';
import { commandPatience } from './patience.ts';

/** A command's access to Postgres alone. */
export interface Database {
  config: Config;
  db: Db;
  /** Contains a password: not for logs. */
  url: string;
  embedded: boolean;
  /** For what is asked over a connection of its own. */
  patience: Patience;
}

/**
 * Opens Postgres for the time of one piece of work: DATABASE_URL, else the embedded one of this folder. Temporal is not
 * needed and not started.
 * @throws UserError when this folder has no embedded database yet, or the schema is not the one this version needs.
 */
export async function withDatabase<T>(context: CommandContext, work: (database: Database) => Promise<T>): Promise<T> {
  const [{ readConfig }, { connect }, { prepareSchema }] = await Promise.all([
    import('../config.ts'),
    import('../db/connect.ts'),
    import('../db/prepare-schema.ts'),
  ]);
  const config = readConfig(context.env, context.cwd);
  const embedded = config.databaseUrl === undefined;
  const patience = commandPatience(context);
  return interruptible(context, async ({ signal }) => {
    const opened = await openDatabase(context, config, signal);
    const url = opened.databaseUrl;
    try {
      await unlessAborted(signal, prepareSchema(url, { embedded, patience }));
      const db = connect(url, { poolSize: 4, patience });
      try {
        return await unlessAborted(signal, work({ config, db, url, embedded, patience }));
      } finally {
        // Work that was interrupted may go on with its connections; they end with the process.
        const closed = db.destroy();
        if (!signal.aborted) await closed;
        else closed.catch(() => undefined);
      }
    } finally {
      await opened.release();
    }
  });
}

async function openDatabase(
  context: CommandContext,
  config: Config,
  signal: AbortSignal,
): Promise<{ databaseUrl: string; release(): Promise<void> }> {
  if (config.databaseUrl !== undefined) return { databaseUrl: config.databaseUrl, release: () => Promise.resolve() };
  const { ensureDatabaseOnly, recordedStack } = await import('../local/stack.ts');
  if (recordedStack(config.home).postgres === null) {
    throw new UserError(`There are no evaluations in ${config.home}: nothing was run in this folder yet.`, {
      hint: 'Run `assay run SUITE`, change to the folder where you ran it, or set DATABASE_URL or ASSAY_HOME.',
      exitCode: EXIT.usage,
    });
  }
  const log = (line: string): void => context.stderr(`${line}\n`);
  return ensureDatabaseOnly({ home: config.home, env: context.env, log, signal });
}
