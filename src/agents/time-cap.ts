/** A signal that is aborted by a parent signal or by time, and knows which. */
export interface TimeCap {
  readonly signal: AbortSignal;
  /** Length of the cap, milliseconds. */
  readonly ms: number;
  /** True once the time was used up before the parent signal was aborted. */
  expired(): boolean;
  /** Stops the timer and leaves the parent signal. Call it always. */
  dispose(): void;
}

/** A timer set for longer fires at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/**
 * Starts a time cap of `ms` milliseconds under `parent`. Written by hand instead of `AbortSignal.any`, because the
 * parent lives as long as a worker and must not collect one listener a call.
 */
export function startTimeCap(parent: AbortSignal, ms: number): TimeCap {
  const controller = new AbortController();
  let expired = false;
  const onParent = (): void => controller.abort(parent.reason);
  const timer = setTimeout(
    () => {
      expired = true;
      controller.abort(new DOMException(`${ms} ms are used up`, 'TimeoutError'));
    },
    Math.min(ms, LONGEST_TIMER_MS),
  );
  if (parent.aborted) onParent();
  else parent.addEventListener('abort', onParent, { once: true });
  controller.signal.addEventListener('abort', () => clearTimeout(timer), { once: true });
  if (controller.signal.aborted) clearTimeout(timer);
  return {
    signal: controller.signal,
    ms,
    expired: () => expired,
    dispose: () => {
      clearTimeout(timer);
      parent.removeEventListener('abort', onParent);
    },
  };
}
