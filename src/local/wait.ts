import { setTimeout as sleep } from 'node:timers/promises';
import { EXIT, UserError } from '../core/errors.ts';

/** Where time comes from; replaced in tests. */
export interface Clock {
  now(): number;
  sleep(ms: number): Promise<void>;
}

export const systemClock: Clock = { now: () => performance.now(), sleep: (ms) => sleep(ms) };

export interface WaitOptions {
  /** What is waited for, as it reads after "waiting for": `Temporal at 127.0.0.1:7233`. */
  what: string;
  /** Asked again until it returns null; a text says why it is not ready yet. */
  probe: () => Promise<string | null>;
  /** Bound, in milliseconds. */
  timeoutMs: number;
  /** Pause between two probes, in milliseconds. Default 50. */
  intervalMs?: number;
  log: (line: string) => void;
  /** After how many milliseconds to say what is waited for. Default 2,000. */
  quietMs?: number;
  /** How to mend it, for the error. */
  hint: string;
  /** A text when waiting is pointless (the process has ended); ends the wait at once. */
  gaveUp?: () => string | null;
  clock?: Clock;
  /** Ends the wait when it is aborted; its reason is thrown. */
  signal?: AbortSignal | undefined;
}

/**
 * Waits until something is ready: bounded, and says what it waits for.
 * @throws UserError exit code 4, when the bound is reached or `gaveUp` says why there is nothing to wait for.
 */
export async function waitFor(options: WaitOptions): Promise<void> {
  const clock = options.clock ?? systemClock;
  const begin = clock.now();
  let told = false;
  for (;;) {
    options.signal?.throwIfAborted();
    const notReady = await options.probe();
    if (notReady === null) return;
    const gaveUp = options.gaveUp?.() ?? null;
    if (gaveUp !== null) throw failure(`${capital(options.what)} did not start: ${gaveUp}`, options.hint);
    const waited = clock.now() - begin;
    if (waited >= options.timeoutMs) {
      const seconds = Math.round(options.timeoutMs / 1000);
      throw failure(`Waited ${seconds} s for ${options.what}, in vain: ${notReady}`, options.hint);
    }
    if (!told && waited >= (options.quietMs ?? 2000)) {
      told = true;
      options.log(`waiting for ${options.what}, at most ${Math.round(options.timeoutMs / 1000)} s (${notReady})`);
    }
    await clock.sleep(Math.min(options.intervalMs ?? 50, options.timeoutMs - waited));
  }
}

function failure(message: string, hint: string): UserError {
  return new UserError(message, { exitCode: EXIT.infrastructure, hint });
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
