import type { Agent, AgentInput } from '../agents/agent.ts';
import { ModelError, type ModelErrorKind, stopsEvaluation } from '../core/errors.ts';
import type { Stop, StopKind } from '../core/evaluation.ts';
import type { ModelClient } from '../core/model.ts';

const UNREACHABLE_CODES = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EHOSTUNREACH', 'ENETUNREACH', 'EAI_AGAIN']);
/** How long the first call goes alone before the others follow. */
const FIRST_CALL_MS = 1_000;
/** Refused connections before the first success that open the breaker. */
const FIRST_REFUSALS = 3;

/** Thrown instead of further calls once the endpoint has shown that every trial would fail the same way. */
export class StopError extends Error {
  readonly stop: Stop;
  constructor(stop: Stop) {
    super(stop.message);
    this.name = 'StopError';
    this.stop = stop;
  }
}

/** True when nothing listens at the endpoint: its absence, not this call, is the failure. */
export function isUnreachable(error: ModelError): boolean {
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    const code = (cause as { code?: unknown }).code;
    if (typeof code === 'string' && UNREACHABLE_CODES.has(code)) return true;
    if (
      cause instanceof AggregateError &&
      cause.errors.some((one) => UNREACHABLE_CODES.has((one as { code: string }).code))
    ) {
      return true;
    }
  }
  return false;
}

/** Refusals that a breaker counts the time of. */
const bounded = new WeakSet<Error>();

/** True when a breaker has seen this refusal: it bounds how long there are more, so that no trial need count them. */
export function isBreakersBusiness(error: ModelError): boolean {
  return bounded.has(error);
}

function stopKindOf(kind: ModelErrorKind): StopKind {
  return kind === 'invalid_endpoint' ? 'endpoint_unreachable' : (kind as StopKind);
}

interface BreakerOptions {
  /** How long an endpoint that had answered may be away, milliseconds. */
  graceMs: number;
  now: () => number;
  /** The first call goes alone. Default true. */
  alone?: boolean;
}

/** Wraps a model client with a circuit breaker; see {@link guardCalls}. */
export function createBreaker(client: ModelClient, options: BreakerOptions): ModelClient {
  const guarded = guardCalls(options);
  return { complete: (request, callOptions) => guarded(() => client.complete(request, callOptions)) };
}

/** Wraps an agent with a circuit breaker for what it calls beside the model: itself, its tools; see {@link guardCalls}. */
export function guardAgent<T extends Agent>(agent: T, options: BreakerOptions): T {
  const guarded = guardCalls(options);
  return { ...agent, run: (input: AgentInput) => guarded(() => agent.run(input), trialOf(input)) };
}

function trialOf({ evalCase, trialIndex }: AgentInput): string {
  return JSON.stringify([evalCase.id, trialIndex]);
}

/**
 * A circuit breaker around calls of one endpoint. The first call goes alone (for at most a second), so that a wrong key
 * costs one call. An error that every trial would meet opens it; an endpoint nobody listens at opens it as
 * {@link createRefusals} says.
 */
function guardCalls(options: BreakerOptions): <T>(call: () => Promise<T>, trial?: string) => Promise<T> {
  let opened: Stop | null = null;
  let first: Promise<void> | null = null;
  const refusals = createRefusals(options);

  function observe(error: unknown, trial: string | null): void {
    const refused = error instanceof ModelError && isUnreachable(error);
    if (!refused && trial !== null) refusals.endOf(trial);
    if (!(error instanceof ModelError)) return;
    if (stopsEvaluation(error.kind)) opened ??= { kind: stopKindOf(error.kind), message: error.message };
    if (refused) opened ??= refusals.add(error, trial);
    // An error the endpoint sent is a sign of life.
    else if (error.status !== null) refusals.heard();
  }

  return async (call, trial) => {
    if (opened !== null) throw new StopError(opened);
    if (!refusals.answered() && first !== null) await first;
    if (opened !== null) throw new StopError(opened);
    let release = (): void => undefined;
    if (options.alone !== false && !refusals.answered() && first === null) {
      first = new Promise((resolve) => {
        const timer = setTimeout(resolve, FIRST_CALL_MS);
        release = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    try {
      const reply = await call();
      if (trial !== undefined) refusals.endOf(trial);
      refusals.heard();
      return reply;
    } catch (error) {
      observe(error, trial ?? null);
      if (opened !== null) throw new StopError(opened);
      throw error;
    } finally {
      release();
    }
  };
}

interface Refusals {
  /** True once the endpoint has given a sign of life. */
  answered(): boolean;
  heard(): void;
  /** The trial got through, or met something else. */
  endOf(trial: string): void;
  /** The stop, once the endpoint is taken to be gone. @param trial null: the call is of no trial */
  add(error: ModelError, trial: string | null): Stop | null;
}

/**
 * Counts refused connections of one endpoint. It is gone after `graceMs` without a sign of life (after three tries when it
 * never answered), and when one trial is refused for longer than `graceMs` while others end well: these may not need the
 * tool whose host is away.
 */
function createRefusals(options: BreakerOptions): Refusals {
  let answered = false;
  let all: Series | null = null;
  const ofTrials = new Map<string, Series>();
  const added = (series: Series | null | undefined): Series => ({
    since: series?.since ?? options.now(),
    tries: (series?.tries ?? 0) + 1,
  });
  return {
    answered: () => answered,
    heard() {
      answered = true;
      all = null;
    },
    endOf: (trial) => void ofTrials.delete(trial),
    add(error, trial) {
      bounded.add(error);
      all = added(all);
      const away = options.now() - all.since;
      const gone = answered ? away > options.graceMs : all.tries >= FIRST_REFUSALS && away > FIRST_CALL_MS;
      if (gone) return unreachable(error, all.tries, away);
      if (trial === null) return null;
      const own = added(ofTrials.get(trial));
      ofTrials.set(trial, own);
      const kept = options.now() - own.since;
      return kept > options.graceMs ? unreachable(error, own.tries, kept) : null;
    },
  };
}

interface Series {
  /** Of the clock `now`. */
  since: number;
  tries: number;
}

function unreachable(error: ModelError, tries: number, awayMs: number): Stop {
  const message = `${error.message} (tried ${tries} times in ${Math.round(awayMs / 1000)} s)`;
  return { kind: 'endpoint_unreachable', message };
}
