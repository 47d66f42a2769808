import { setImmediate as nextTurn } from 'node:timers/promises';
import { ModelError } from '../core/errors.ts';
import { hashValue } from '../core/hash.ts';
import type { CallPlace, ModelClient, ModelReply, ModelRequest, TrialModel } from '../core/model.ts';
import { costOf } from '../core/price.ts';
import type { Price } from '../core/suite.ts';
import type { TrialKey } from '../core/trial.ts';
import type { JournaledCall } from '../db/trial-reads.ts';
import type { JournalEntry } from '../db/trial-rows.ts';
import type { TrialWriter } from '../db/trial-writer.ts';

/** Thrown when a later claim of the trial has fenced this activity off: its work is not wanted any more. */
export class FencedError extends Error {
  constructor() {
    super('another worker has taken this trial over');
    this.name = 'FencedError';
  }
}

const placeText = (place: CallPlace): string =>
  `${place.role}\u0000${place.path}\u0000${place.dimension}\u0000${place.vote}`;

/** What the model calls of a trial added up to, replayed ones included. */
interface Spent {
  costUsd: number | null;
  tokens: number | null;
}

/** A model that knows what its calls cost and which of them are not recorded yet. */
interface RecordingModel extends TrialModel {
  spent(role: 'agent' | 'judge'): Spent;
  /** What ended the trial; null when nothing did. */
  failure(): unknown;
  /** The clock of the trial: replayed replies take the time they took when they were made. Milliseconds since the epoch. */
  now(): number;
  /** Milliseconds, so far, in which the trial could not go on because its calls were being stored. */
  waitedForJournal(): number;
  /** True when the journal had a call at this place. */
  journaled(place: CallPlace): boolean;
  /** Calls that the write which comes next must record. */
  takeUnrecorded(): JournalEntry[];
  /** Records them now. @throws FencedError when another worker has the trial */
  record(): Promise<void>;
}

/**
 * The model of one trial: replays calls that are in the journal, makes and records the others. When a request differs
 * from the recorded one, the rest of that conversation is discarded: what follows it answered another question.
 * A reply after which nothing is to be expected but the trial's next write (`isLast`) is recorded by that write; the
 * next call, should there be one, records it first.
 */
export function createTrialModel(options: {
  client: ModelClient;
  key: TrialKey;
  fence: number;
  journal: JournaledCall[];
  writer: TrialWriter;
  prices: Record<string, Price>;
  now: () => number;
  /** Default: no reply is. */
  isLast?: (place: CallPlace, reply: ModelReply) => boolean;
}): RecordingModel {
  const recorded = new Map<string, JournaledCall>();
  for (const call of options.journal) {
    recorded.set(`${placeText(call as CallPlace)}\u0000${call.sequence}`, call);
  }
  const diverged = new Set<string>();
  const spending = createSpending();
  const clock = createClock(options.now);
  let failed: unknown = null;
  let underWay = 0;
  const records = createRecords(options.writer, options.now, (error) => (failed ??= error));

  return {
    takeUnrecorded: records.take,
    record: records.write,
    spent: spending.of,
    journaled: (place) => recorded.has(`${placeText(place)}\u0000${place.sequence}`),
    // An agent of the user's own may swallow the error of a call; the trial is run again all the same.
    failure: () => failed,
    waitedForJournal: records.waited,
    now: clock.now,
    async complete(request: ModelRequest, { place, signal, timeoutMs }) {
      const conversation = placeText(place);
      const hash = hashValue(request);
      const known = diverged.has(conversation) ? undefined : recorded.get(`${conversation}\u0000${place.sequence}`);
      const price = (reply: ModelReply): number | null =>
        costOf(reply.usage, priced(reply, request, options.prices), options.prices);
      if (known !== undefined && known.request_hash === hash) {
        spending.add(place.role, known.response, price(known.response));
        await clock.pass(known.latency_ms);
        return { ...known.response, replayed: true };
      }
      diverged.add(conversation);
      await records.write();
      const startedAt = options.now();
      underWay += 1;
      const reply = await options.client
        .complete(request, { signal, timeoutMs })
        .catch((error: unknown) => {
          if (endsTrial(error)) failed ??= error;
          throw error;
        })
        .finally(() => void (underWay -= 1));
      const cost = price(reply);
      const { key, fence } = options;
      const rest = { request_hash: hash, response: reply, cost_usd: cost, latency_ms: options.now() - startedAt };
      records.add({ key, fence, ...place, ...rest });
      if (underWay > 0 || options.isLast?.(place, reply) !== true) await records.write();
      spending.add(place.role, reply, cost);
      return reply;
    },
  };
}

/** A clock that can be told of time which passed in an earlier attempt at the same work. */
function createClock(now: () => number): { now(): number; pass(ms: number): Promise<void> } {
  let ahead = 0;
  return {
    now: () => now() + ahead,
    async pass(ms) {
      const end = now() + ahead + ms;
      // Calls that were under way side by side begin in one turn, and pass their time together.
      await nextTurn();
      ahead = Math.max(ahead, end - now());
    },
  };
}

/** Calls that are made and not yet recorded. What keeps them from it is passed to `failed`, and thrown. */
function createRecords(
  writer: TrialWriter,
  now: () => number,
  failed: (error: unknown) => unknown,
): { add(entry: JournalEntry): void; take(): JournalEntry[]; write(): Promise<void>; waited(): number } {
  const entries: JournalEntry[] = [];
  const take = (): JournalEntry[] => entries.splice(0);
  let waitedMs = 0;
  // Calls of one trial may be recorded side by side: time is counted once.
  let open = 0;
  let since = 0;
  const waiting = (): number => (open > 0 ? Math.max(0, now() - since) : 0);
  return {
    add: (entry) => void entries.push(entry),
    take,
    waited: () => waitedMs + waiting(),
    async write() {
      if (entries.length === 0) return;
      if (open === 0) since = now();
      open += 1;
      try {
        const written = await Promise.all(take().map((entry) => writer.journal(entry)));
        if (!written.every(Boolean)) throw new FencedError();
      } catch (error) {
        // An agent of the user's own may swallow it, and answer without the reply.
        throw failed(error);
      } finally {
        if (open === 1) waitedMs += waiting();
        open -= 1;
      }
    },
  };
}

/** True for failures of the infrastructure; refusals for length or content are the agent's own. */
function endsTrial(error: unknown): boolean {
  return (
    !(error instanceof ModelError) || !['context_length', 'content_filter', 'timeout', 'aborted'].includes(error.kind)
  );
}

/** Endpoints answer with a dated name of the model asked for; the price may be listed under either. */
function priced(reply: ModelReply, request: ModelRequest, prices: Record<string, Price>): string {
  return reply.model !== null && reply.model in prices ? reply.model : request.model;
}

/** Sums money and tokens by role; a sum with an unknown part is unknown. */
function createSpending(): {
  of(role: 'agent' | 'judge'): Spent;
  add(role: 'agent' | 'judge', reply: ModelReply, cost: number | null): void;
} {
  const spent: Record<'agent' | 'judge', Spent> = {
    agent: { costUsd: 0, tokens: 0 },
    judge: { costUsd: 0, tokens: 0 },
  };
  return {
    of: (role) => spent[role],
    add(role, reply, cost) {
      const sum = spent[role];
      sum.costUsd = sum.costUsd === null || cost === null ? null : sum.costUsd + cost;
      sum.tokens = sum.tokens === null || reply.usage.total === null ? null : sum.tokens + reply.usage.total;
    },
  };
}
