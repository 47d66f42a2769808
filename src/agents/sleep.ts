/** Waits `ms` milliseconds; rejects with the signal's reason as soon as it is aborted. Injected, so that tests do not wait. */
export type Sleep = (ms: number, signal: AbortSignal) => Promise<void>;

/** {@link Sleep} on the real clock. */
export const sleep: Sleep = (ms, signal) => {
  if (signal.aborted) return Promise.reject(abortError(signal));
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      clearTimeout(timer);
      reject(abortError(signal));
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    }, ms);
    signal.addEventListener('abort', onAbort, { once: true });
  });
};

/** The error work rejects with when its signal was aborted: named `AbortError`, the signal's reason as its cause. */
export function abortError(signal: AbortSignal): Error {
  const error = new Error('canceled', { cause: signal.reason });
  error.name = 'AbortError';
  return error;
}

/**
 * The promise, or a rejection as soon as the signal is aborted: whatever the callee does with its own signal, the
 * caller goes on.
 */
export function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(abortError(signal));
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
