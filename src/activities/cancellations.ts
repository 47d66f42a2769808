/**
 * Ends the work of canceled evaluations in this worker, told by Postgres NOTIFY. Each revision (start or resume) of an
 * evaluation has an abort controller of its own: a worker that was told of a cancellation must work again after a
 * resume, which it is not told of.
 */
export interface Cancellations {
  /** Aborted already when a newer revision is known here: the caller is a leftover. */
  signalOf(evaluationId: string, revision: number): AbortSignal;
  cancel(evaluationId: string): void;
}

export function createCancellations(): Cancellations {
  const newest = new Map<string, { revision: number; controller: AbortController }>();
  return {
    signalOf(id, revision) {
      const known = newest.get(id);
      if (known?.revision === revision) return known.controller.signal;
      if (known !== undefined && known.revision > revision) return AbortSignal.abort();
      // What is left of an older revision ends now.
      known?.controller.abort();
      const controller = new AbortController();
      newest.set(id, { revision, controller });
      return controller.signal;
    },
    cancel: (id) => newest.get(id)?.controller.abort(),
  };
}
