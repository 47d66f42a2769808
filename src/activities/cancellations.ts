/** Ends the work of canceled evaluations in this worker. One abort controller an evaluation, told by Postgres NOTIFY. */
export interface Cancellations {
  signalOf(evaluationId: string): AbortSignal;
  cancel(evaluationId: string): void;
  /** Forgets a cancellation: the evaluation is being resumed. */
  reset(evaluationId: string): void;
}

export function createCancellations(): Cancellations {
  const controllers = new Map<string, AbortController>();
  const controllerOf = (id: string): AbortController => {
    const known = controllers.get(id);
    if (known !== undefined) return known;
    const created = new AbortController();
    controllers.set(id, created);
    return created;
  };
  return {
    signalOf: (id) => controllerOf(id).signal,
    cancel: (id) => controllerOf(id).abort(),
    reset: (id) => void controllers.delete(id),
  };
}
