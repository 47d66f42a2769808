/** Mean, spread and range of a stream of numbers in O(1) memory. */
export interface Moments {
  n: number;
  /** Null when n = 0. */
  mean: number | null;
  /** Sample standard deviation (n - 1); null for n < 2. */
  stdev: number | null;
  min: number | null;
  max: number | null;
  sum: number;
}

export interface MomentsAccumulator {
  add(value: number): void;
  moments(): Moments;
}

/**
 * Sum for the mean, Welford's recurrence for the spread. The result depends on the order of `add` in the last bits:
 * callers add in the order of a key. The mean is kept within [min, max], so equal values have exactly their own mean.
 */
export function createMoments(): MomentsAccumulator {
  let n = 0;
  let sum = 0;
  let running = 0;
  let squares = 0;
  let min = Infinity;
  let max = -Infinity;
  return {
    add(value) {
      n += 1;
      sum += value;
      const delta = value - running;
      running += delta / n;
      squares += delta * (value - running);
      if (value < min) min = value;
      if (value > max) max = value;
    },
    moments() {
      if (n === 0) return { n, mean: null, stdev: null, min: null, max: null, sum };
      const mean = Math.min(max, Math.max(min, sum / n));
      return { n, mean, stdev: n < 2 ? null : Math.sqrt(squares / (n - 1)), min, max, sum };
    },
  };
}

/** Moments of values in the order given. */
export function momentsOf(values: Iterable<number>): Moments {
  const accumulator = createMoments();
  for (const value of values) accumulator.add(value);
  return accumulator.moments();
}
