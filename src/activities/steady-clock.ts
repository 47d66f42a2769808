/** The two clocks of a process. */
export interface Clocks {
  /** Milliseconds since the epoch; goes back when the machine's clock is set. */
  now: () => number;
  /** Milliseconds of any origin that only grow. */
  clock: () => number;
}

/** Milliseconds since the epoch that only grow: the date once, and from then on what has really passed. Whole numbers. */
export function steadyClock({ now, clock }: Clocks): () => number {
  const date = now();
  const origin = clock();
  return () => Math.round(date + clock() - origin);
}
