/** Places of the trials that may be worked on at once. */
export interface Places {
  /**
   * Waits for a place of the shard, first come first served.
   * @returns false: none became free in time, the wait was called off, or the shard is closed
   */
  enter(of: Of, lanes: Lanes, signal: AbortSignal): Promise<boolean>;
  /** The next may begin. */
  leave(of: Of): void;
  /** The activity of one that has left its place is over. */
  gone(of: Of): void;
  /** Calls off every wait in these shards and lets nobody in any more: what comes now was on its way. */
  close(which: Pick<Of, 'evaluationId'> & Partial<Of>): void;
}

interface Of {
  evaluationId: string;
  /** What is left of an older one ends while the shards of the newer begin. */
  revision: number;
  /** The run of the shard's workflow. */
  shard: string;
}

/** How many places the shard had when the trial was handed out. */
interface Lanes {
  limit: number;
  /** Milliseconds since the epoch. A retry comes long after: what it says of the places is out of date. */
  handedOutAt: number;
}

interface Shard extends Lanes, Omit<Of, 'shard'> {
  taken: number;
  /** Activities: in a place, waiting for one, or done with theirs and not over. */
  present: number;
  /** In the order they came. */
  waiting: Set<(entered: boolean) => void>;
}

/** Closed shards that are remembered; trials handed out before come within moments. */
const CLOSED = 1_000;

/**
 * @param patienceMs longest wait for a place
 * @param slots activities this worker takes at once: one that waits must not keep the last of them from a trial that could run
 */
export function createPlaces({ patienceMs, slots }: { patienceMs: number; slots: number }): Places {
  const shards = new Map<string, Shard>();
  const closed = lastFew(CLOSED);
  let present = 0;

  function count(name: string, shard: Shard, change: 1 | -1): void {
    present += change;
    shard.present += change;
    if (shard.present === 0) shards.delete(name);
  }

  return {
    async enter(of, lanes, signal) {
      if (closed.has(of.shard)) return false;
      const shard = shards.get(of.shard) ?? { ...of, ...lanes, taken: 0, present: 0, waiting: new Set() };
      if (lanes.handedOutAt >= shard.handedOutAt) Object.assign(shard, lanes);
      if (shard.waiting.size > 0) admit(shard);
      const full = shard.taken >= shard.limit;
      if (full && (present >= slots - 1 || signal.aborted)) return false;
      shards.set(of.shard, shard);
      count(of.shard, shard, 1);
      const entered = await wait(shard, patienceMs, signal);
      if (!entered) count(of.shard, shard, -1);
      return entered;
    },
    leave(of) {
      const shard = shards.get(of.shard);
      if (shard === undefined) return;
      shard.taken -= 1;
      admit(shard);
    },
    gone(of) {
      const shard = shards.get(of.shard);
      if (shard !== undefined) count(of.shard, shard, -1);
    },
    close(which) {
      for (const [name, shard] of shards) {
        if (!isAmong({ ...shard, shard: name }, which)) continue;
        closed.add(name);
        for (const answer of shard.waiting) answer(false);
        shard.waiting.clear();
      }
    },
  };
}

function admit(shard: Shard): void {
  for (const answer of shard.waiting) {
    if (shard.taken >= shard.limit) break;
    shard.waiting.delete(answer);
    shard.taken += 1;
    answer(true);
  }
}

async function wait(shard: Shard, patienceMs: number, signal: AbortSignal): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const giveUp = (): void => {
    if (shard.waiting.delete(resolve)) resolve(false);
  };
  const timer = setTimeout(giveUp, patienceMs);
  signal.addEventListener('abort', giveUp);
  shard.waiting.add(resolve);
  admit(shard);
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', giveUp);
  }
}

function isAmong(of: Of, which: Pick<Of, 'evaluationId'> & Partial<Of>): boolean {
  const { evaluationId, revision = of.revision, shard = of.shard } = which;
  return of.evaluationId === evaluationId && of.revision === revision && of.shard === shard;
}

/** The names added last. */
function lastFew(capacity: number): { add(name: string): void; has(name: string): boolean } {
  const names = new Set<string>();
  return {
    add(name) {
      names.add(name);
      const oldest = names.keys().next().value;
      if (names.size > capacity && oldest !== undefined) names.delete(oldest);
    },
    has: (name) => names.has(name),
  };
}
