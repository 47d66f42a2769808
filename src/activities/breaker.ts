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
  return { ...agent, run: (input: AgentInput) => guarded(() => agent.run(input)) };
}

/**
 * A circuit breaker around calls of one endpoint. The first call goes alone (for at most a second), so that a wrong key
 * costs one call. An error that every trial would meet opens it; an endpoint nobody listens at opens it after
 * `graceMs` (after three tries when it never answered).
 */
function guardCalls(options: BreakerOptions): <T>(call: () => Promise<T>) => Promise<T> {
  let opened: Stop | null = null;
  let answered = false;
  let first: Promise<void> | null = null;
  let refusedSince: number | null = null;
  let refusals = 0;

  function heard(): void {
    answered = true;
    refusedSince = null;
    refusals = 0;
  }

  function observe(error: unknown): void {
    if (!(error instanceof ModelError)) return;
    if (stopsEvaluation(error.kind)) opened ??= { kind: stopKindOf(error.kind), message: error.message };
    if (!isUnreachable(error)) {
      // An error the endpoint sent is a sign of life.
      if (error.status !== null) heard();
      return;
    }
    refusedSince ??= options.now();
    refusals += 1;
    const away = options.now() - refusedSince;
    const gone = answered ? away > options.graceMs : refusals >= FIRST_REFUSALS && away > FIRST_CALL_MS;
    if (gone) {
      opened ??= {
        kind: 'endpoint_unreachable',
        message: `${error.message} (tried ${refusals} times in ${Math.round(away / 1000)} s)`,
      };
    }
  }

  return async (call) => {
    if (opened !== null) throw new StopError(opened);
    if (!answered && first !== null) await first;
    if (opened !== null) throw new StopError(opened);
    let release = (): void => undefined;
    if (options.alone !== false && !answered && first === null) {
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
      heard();
      return reply;
    } catch (error) {
      observe(error);
      if (opened !== null) throw new StopError(opened);
      throw error;
    } finally {
      release();
    }
  };
}
