import { readConfig } from '../../config.ts';
import { EXIT, UserError } from '../../core/errors.ts';
import { requireCurrentSchema } from '../../db/migrate.ts';
import { ensureStack } from '../../local/stack.ts';
import { startWorker } from '../../worker.ts';
import type { CommandContext } from '../context.ts';
import { unlessAborted } from '../interruptible.ts';
import { commandPatience } from '../patience.ts';
import { type StopSignal, stopSignal } from '../stop-signal.ts';

/** Runs a worker until SIGTERM or SIGINT. */
export async function serveWorker(
  context: CommandContext,
  options: { queues: readonly ('main' | 'agent' | 'judge')[]; concurrency?: number },
): Promise<void> {
  const log = (line: string): void => context.stderr(`${line}\n`);
  const stop = stopSignal({
    onFirst: () => log('stopping: trials in flight are handed on (Ctrl-C again to leave at once)'),
  });
  try {
    await serveUntil(stop, context, options, log);
  } catch (error) {
    // Stopped while it was starting: that is what was asked for.
    if (error !== stop.signal.reason) throw error;
  } finally {
    stop.dispose();
  }
}

async function serveUntil(
  stop: StopSignal,
  context: CommandContext,
  options: { queues: readonly ('main' | 'agent' | 'judge')[]; concurrency?: number },
  log: (line: string) => void,
): Promise<void> {
  const config = readConfig(context.env, context.cwd);
  const { signal } = stop;
  const stack = await ensureStack({ home: config.home, env: context.env, log, signal });
  try {
    await unlessAborted(signal, requireCurrentSchema(stack.databaseUrl, commandPatience(context)));
    const starting = startWorker({
      config: {
        ...config,
        namespace: stack.namespace,
        ...(options.concurrency === undefined ? {} : { maxActivities: options.concurrency }),
      },
      databaseUrl: stack.databaseUrl,
      connectionOptions: stack.connectionOptions,
      cwd: context.cwd,
      log,
      queues: options.queues,
    });
    const worker = await unlessAborted(signal, starting);
    context.stdout('READY\n');
    try {
      await Promise.race([stop.asked, worker.failed.catch(died)]);
    } finally {
      await worker.stop();
    }
  } finally {
    await stack.release();
  }
}

function died(error: unknown): never {
  throw new UserError(`The worker died: ${error instanceof Error ? error.message : String(error)}`, {
    exitCode: EXIT.infrastructure,
    hint: '`assay doctor` shows what is reachable; start the worker again once that is mended.',
    cause: error,
  });
}
