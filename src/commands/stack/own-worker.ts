import type { RunningWorker } from '../../worker.ts';
import type { CommandContext } from '../context.ts';
import type { OpeningSession } from '../session.ts';

/** Loads the worker's code while the caller waits for something else. What is wrong with it, `startOwnWorker` says. */
export function preloadWorker(): void {
  import('../../worker.ts').catch(() => undefined);
}

/**
 * A worker inside this process, its log in the folder of the stack. A failure to start is told to who awaits it.
 * @param ready it takes up no work before; default: at once
 */
export function startOwnWorker(
  context: CommandContext,
  session: OpeningSession,
  ready?: Promise<unknown>,
): Promise<RunningWorker> {
  const starting = start(context, session, ready);
  // It may be awaited only later, after something else has failed.
  starting.catch(() => undefined);
  return starting;
}

async function start(
  context: CommandContext,
  session: OpeningSession,
  ready: Promise<unknown> | undefined,
): Promise<RunningWorker> {
  const [{ startWorker }, { fileLog }] = await Promise.all([
    import('../../worker.ts'),
    import('../../local/file-log.ts'),
  ]);
  return startWorker({
    config: session.config,
    databaseUrl: session.stack.databaseUrl,
    connectionOptions: session.stack.connectionOptions,
    cwd: context.cwd,
    log: fileLog(session.config.home, 'worker.log'),
    ready,
  });
}
