import { ModelError } from '../core/errors.ts';
import { hashValue } from '../core/hash.ts';
import type { CallPlace, ModelClient, ModelReply, ModelRequest, TrialModel } from '../core/model.ts';
import { costOf } from '../core/price.ts';
import type { Price } from '../core/suite.ts';
import type { TrialKey } from '../core/trial.ts';
import type { JournaledCall } from '../db/trial-reads.ts';
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
export interface Spent {
  costUsd: number | null;
  tokens: number | null;
}

/**
 * The model of one trial: replays calls that are in the journal, makes and records the others. When a request differs
 * from the recorded one, the rest of that conversation is discarded: what follows it answered another question.
 */
export function createTrialModel(options: {
  client: ModelClient;
  key: TrialKey;
  fence: number;
  journal: JournaledCall[];
  writer: TrialWriter;
  prices: Record<string, Price>;
  now: () => number;
}): TrialModel & { spent(role: 'agent' | 'judge'): Spent; failure(): unknown; journaled(place: CallPlace): boolean } {
  const recorded = new Map<string, JournaledCall>();
  for (const call of options.journal) {
    recorded.set(`${placeText(call as CallPlace)}\u0000${call.sequence}`, call);
  }
  const diverged = new Set<string>();
  const spending = createSpending();
  let failed: unknown = null;

  return {
    spent: spending.of,
    journaled: (place) => recorded.has(`${placeText(place)}\u0000${place.sequence}`),
    // An agent of the user's own may swallow the error of a call; the trial is run again all the same.
    failure: () => failed,
    async complete(request: ModelRequest, { place, signal, timeoutMs }) {
      const conversation = placeText(place);
      const hash = hashValue(request);
      const known = diverged.has(conversation) ? undefined : recorded.get(`${conversation}\u0000${place.sequence}`);
      const price = (reply: ModelReply): number | null =>
        costOf(reply.usage, priced(reply, request, options.prices), options.prices);
      if (known !== undefined && known.request_hash === hash) {
        spending.add(place.role, known.response, price(known.response));
        return { ...known.response, replayed: true };
      }
      diverged.add(conversation);
      const startedAt = options.now();
      const reply = await options.client.complete(request, { signal, timeoutMs }).catch((error: unknown) => {
        if (endsTrial(error)) failed ??= error;
        throw error;
      });
      const cost = price(reply);
      const written = await options.writer.journal({
        key: options.key,
        fence: options.fence,
        ...place,
        request_hash: hash,
        response: reply,
        cost_usd: cost,
        latency_ms: options.now() - startedAt,
      });
      if (!written) {
        failed ??= new FencedError();
        throw failed;
      }
      spending.add(place.role, reply, cost);
      return reply;
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
