import { readConfig } from '../config.ts';
import { EXIT, UserError } from '../core/errors.ts';
import { requireCurrentSchema } from '../db/migrate.ts';
import { ensureStack } from '../local/stack.ts';
import { startWorker } from '../worker.ts';
import type { CommandContext } from './context.ts';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/** Runs a worker until SIGTERM or SIGINT. */
export async function serveWorker(
  context: CommandContext,
  options: { queues: readonly ('main' | 'agent' | 'judge')[]; concurrency?: number },
): Promise<void> {
  const stop = untilSignal();
  const config = readConfig(context.env, context.cwd);
  const log = (line: string): void => context.stderr(`${line}\n`);
  const stack = await ensureStack({ home: config.home, env: context.env, log });
  try {
    await requireCurrentSchema(stack.databaseUrl);
    const worker = await startWorker({
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
    context.stdout('READY\n');
    try {
      await Promise.race([stop.asked, worker.failed.catch(died)]);
      log('stopping: trials in flight are handed on');
    } finally {
      await worker.stop();
    }
  } finally {
    stop.dispose();
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

/** The first signal asks to stop; a second one leaves at once. */
function untilSignal(): { asked: Promise<void>; dispose(): void } {
  const controller = new AbortController();
  const asked = new Promise<void>((resolve) => {
    controller.signal.addEventListener('abort', () => resolve(), { once: true });
  });
  const listener = (): void => {
    if (controller.signal.aborted) process.exit(EXIT.interrupted);
    controller.abort();
  };
  for (const signal of SIGNALS) process.on(signal, listener);
  return {
    asked,
    dispose() {
      for (const signal of SIGNALS) process.off(signal, listener);
    },
  };
}
