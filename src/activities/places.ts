/** Places of the trials that may be worked on at once. */
export interface Places {
  /**
   * Waits for a place of the shard, first come first served.
   * @param limit places the shard has from now on
   * @returns false: none became free in time, or the wait was called off
   */
  enter(of: Of, limit: number, signal: AbortSignal): Promise<boolean>;
  leave(of: Of): void;
  /** Calls off every wait for a place of this evaluation. */
  turnAway(evaluationId: string): void;
}

interface Of {
  evaluationId: string;
  /** The shard's workflow id. */
  shard: string;
}

interface Shard {
  evaluationId: string;
  limit: number;
  taken: number;
  /** In the order they came. */
  waiting: Set<(entered: boolean) => void>;
}

/**
 * @param patienceMs longest wait for a place
 * @param slots activities this worker takes at once: one that waits must not keep the last of them from a trial that could run
 */
export function createPlaces({ patienceMs, slots }: { patienceMs: number; slots: number }): Places {
  const shards = new Map<string, Shard>();
  let present = 0;

  function admit(name: string, shard: Shard): void {
    for (const answer of shard.waiting) {
      if (shard.taken >= shard.limit) break;
      shard.waiting.delete(answer);
      shard.taken += 1;
      answer(true);
    }
    if (shard.taken === 0 && shard.waiting.size === 0) shards.delete(name);
  }

  async function wait(name: string, shard: Shard, signal: AbortSignal): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const giveUp = (): void => {
      if (shard.waiting.delete(resolve)) resolve(false);
    };
    const timer = setTimeout(giveUp, patienceMs);
    signal.addEventListener('abort', giveUp);
    shard.waiting.add(resolve);
    admit(name, shard);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', giveUp);
    }
  }

  return {
    async enter(of, limit, signal) {
      const shard = shards.get(of.shard) ?? { evaluationId: of.evaluationId, limit, taken: 0, waiting: new Set() };
      shards.set(of.shard, shard);
      shard.limit = Math.max(1, limit);
      const full = shard.taken >= shard.limit || shard.waiting.size > 0;
      if (full && (present >= slots - 1 || signal.aborted)) return false;
      present += 1;
      const entered = await wait(of.shard, shard, signal);
      if (!entered) present -= 1;
      return entered;
    },
    leave(of) {
      const shard = shards.get(of.shard);
      if (shard === undefined) return;
      present -= 1;
      shard.taken -= 1;
      admit(of.shard, shard);
    },
    turnAway(evaluationId) {
      for (const shard of shards.values()) {
        if (shard.evaluationId !== evaluationId) continue;
        for (const answer of shard.waiting) answer(false);
        shard.waiting.clear();
      }
    },
  };
}
