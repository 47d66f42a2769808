import type { JsonObject } from '../core/json.ts';

/** What the server counted since its start or the last reset; the body of `GET /stats`. */
export interface ScriptedModelStats {
  /** Completion requests that arrived. */
  calls: number;
  /** Replies written whole, whatever their status. */
  answered: number;
  /** Requests whose connection closed before the whole reply was written. */
  aborted: number;
  /** Requests open now; not reset. */
  inFlight: number;
  /** Requests that no rule matched. */
  unmatched: number;
  byRule: Record<string, number>;
  /** Answered, by status. */
  byStatus: Record<string, number>;
  /** Of replies with status 200 that carried a usage. */
  tokens: { input: number; output: number; total: number };
  /** Requests equal to one that had been answered with 200, of rules without `allow_repeat`. */
  repeated: number;
}

/** Counts calls when they arrive and when they end. */
export class Statistics {
  #calls = 0;
  #answered = 0;
  #aborted = 0;
  #inFlight = 0;
  #unmatched = 0;
  #repeated = 0;
  #input = 0;
  #output = 0;
  #byRule = new Map<string, number>();
  #byStatus = new Map<string, number>();
  #answeredByHash = new Map<string, number>();
  #uses = new Map<string, number>();

  arrived(): void {
    this.#calls += 1;
    this.#inFlight += 1;
  }

  /** A rule was chosen for a request. */
  matched(rule: string, requestHash: string, allowRepeat: boolean): void {
    add(this.#byRule, rule);
    if (!allowRepeat && this.#answeredByHash.has(requestHash)) this.#repeated += 1;
  }

  unmatched(): void {
    this.#unmatched += 1;
  }

  /** How often this rule was chosen for this very request before; counts this time. */
  use(rule: string, requestHash: string): number {
    return add(this.#uses, `${rule}\n${requestHash}`) - 1;
  }

  /** The connection is done with the request. `requestHash` and `usage` are null where there are none. */
  ended(end: { whole: boolean; status: number; requestHash: string | null; usage: JsonObject | null }): void {
    this.#inFlight -= 1;
    if (!end.whole) {
      this.#aborted += 1;
      return;
    }
    this.#answered += 1;
    add(this.#byStatus, String(end.status));
    if (end.status !== 200) return;
    if (end.requestHash !== null) add(this.#answeredByHash, end.requestHash);
    this.#input += Number(end.usage?.['prompt_tokens'] ?? 0);
    this.#output += Number(end.usage?.['completion_tokens'] ?? 0);
  }

  snapshot(): ScriptedModelStats {
    return {
      calls: this.#calls,
      answered: this.#answered,
      aborted: this.#aborted,
      inFlight: this.#inFlight,
      unmatched: this.#unmatched,
      byRule: Object.fromEntries(this.#byRule),
      byStatus: Object.fromEntries(this.#byStatus),
      tokens: { input: this.#input, output: this.#output, total: this.#input + this.#output },
      repeated: this.#repeated,
    };
  }

  /** Times each request, by hash, was answered with 200. */
  byHash(): Record<string, number> {
    return Object.fromEntries(this.#answeredByHash);
  }

  /** Forgets everything but the requests that are open. */
  reset(): void {
    this.#calls = 0;
    this.#answered = 0;
    this.#aborted = 0;
    this.#unmatched = 0;
    this.#repeated = 0;
    this.#input = 0;
    this.#output = 0;
    for (const map of [this.#byRule, this.#byStatus, this.#answeredByHash, this.#uses]) map.clear();
  }
}

function add(map: Map<string, number>, key: string): number {
  const next = (map.get(key) ?? 0) + 1;
  map.set(key, next);
  return next;
}
