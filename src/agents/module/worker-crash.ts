/**
 * The process that ran a trial of a `module` agent died: it exited, ran out of memory or was killed. Only that trial is
 * touched; it is run again until `retry.worker_deaths` is used up, then stored as errored with kind `worker_crashed`.
 */
export class WorkerCrashError extends Error {
  readonly kind = 'worker_crashed';
  readonly exitCode: number | null;
  /** Name of the signal that ended it, e.g. `SIGABRT`; null when it exited by itself. */
  readonly exitSignal: string | null;
  constructor(message: string, options: { exitCode: number | null; exitSignal: string | null }) {
    super(message);
    this.name = 'WorkerCrashError';
    this.exitCode = options.exitCode;
    this.exitSignal = options.exitSignal;
  }
}
