import type { CommandContext } from './context.ts';
import { type StopSignal, stopSignal } from './stop-signal.ts';

/**
 * The result of some work, unless the signal is aborted first.
 * @throws the reason of the signal then; the work is not awaited any more
 */
export async function unlessAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  // Nobody hears of its failure once the wait is over.
  work.catch(() => undefined);
  signal.throwIfAborted();
  let giveUp = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    giveUp = () => reject(signal.reason as Error);
    signal.addEventListener('abort', giveUp, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', giveUp);
  }
}

/** Runs work that a signal ends, for commands without a way of their own to stop. Says so, and how to go on. */
export async function interruptible<T>(context: CommandContext, work: (stop: StopSignal) => Promise<T>): Promise<T> {
  const stop = stopSignal({ onFirst: () => context.stderr('\nstopping … (Ctrl-C again to leave at once)\n') });
  try {
    return await work(stop);
  } finally {
    if (stop.signal.aborted) context.stderr('interrupted: what is stored is kept; run the same command again\n');
    stop.dispose();
  }
}
