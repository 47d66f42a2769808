import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';

/**
 * Collects single operations into one statement: while a flush is under way, further items wait and go together.
 * An idle batcher flushes after `lingerMs`, a busy one gets larger batches. Items with equal keys never share a batch.
 */
export interface Batcher<I, O> {
  submit(item: I): Promise<O>;
}

interface Waiting<I, O> {
  item: I;
  key: string;
  resolve: (value: O) => void;
  reject: (error: unknown) => void;
}

export function createBatcher<I, O>(options: {
  /** Gives one result an item, in the items' order. */
  flush: (items: I[]) => Promise<O[]>;
  keyOf: (item: I) => string;
  /** Default 200. */
  maxItems?: number;
  /** True for failures that say nothing about an item: then the whole batch is rejected at once. */
  isOutage?: (error: unknown) => boolean;
  /** Milliseconds a batch waits for more items; default none. */
  lingerMs?: number;
  /** Flushes under way at once; default 1. */
  parallel?: number;
}): Batcher<I, O> {
  const maxItems = options.maxItems ?? 200;
  const parallel = options.parallel ?? 1;
  let queue: Waiting<I, O>[] = [];
  let active = 0;

  function take(): Waiting<I, O>[] {
    const keys = new Set<string>();
    const batch: Waiting<I, O>[] = [];
    const rest: Waiting<I, O>[] = [];
    for (const waiting of queue) {
      if (batch.length < maxItems && !keys.has(waiting.key)) {
        keys.add(waiting.key);
        batch.push(waiting);
      } else rest.push(waiting);
    }
    queue = rest;
    return batch;
  }

  async function flush(batch: Waiting<I, O>[], last: boolean): Promise<boolean> {
    try {
      const results = await options.flush(batch.map((waiting) => waiting.item));
      batch.forEach((waiting, index) => waiting.resolve(results[index] as O));
      return true;
    } catch (error) {
      if (last || options.isOutage?.(error) === true) {
        for (const waiting of batch) waiting.reject(error);
        return true;
      }
      return false;
    }
  }

  async function drain(): Promise<void> {
    active += 1;
    // Let every operation of this tick join the first batch.
    await nextTurn();
    if (options.lingerMs !== undefined) await sleep(options.lingerMs);
    while (queue.length > 0) {
      const batch = take();
      // One item that Postgres refuses must not fail the others: they are tried again one by one.
      if (!(await flush(batch, batch.length === 1))) for (const waiting of batch) await flush([waiting], true);
    }
    active -= 1;
  }

  return {
    submit(item) {
      return new Promise<O>((resolve, reject) => {
        queue.push({ item, key: options.keyOf(item), resolve, reject });
        if (active < parallel) void drain();
      });
    },
  };
}
