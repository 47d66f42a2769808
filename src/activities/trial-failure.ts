import { ApplicationFailure, CancelledFailure } from '@temporalio/activity';
import { isRetried, MissingVariableError, ModelError, UserError } from '../core/errors.ts';
import type { Stop } from '../core/evaluation.ts';
import type { RetryPolicy } from '../core/suite.ts';
import type { FailureCounter, TrialFailure } from '../db/model-failures.ts';
import { isTransient } from '../db/transient.ts';
import { WorkerCrashError } from '../agents/module/worker-crash.ts';
import { isBreakersBusiness, StopError } from './breaker.ts';
import { CANCEL_FAILURE, STOP_FAILURE } from '../core/failure-types.ts';
import { FencedError } from './trial-model.ts';

/**
 * What becomes of a trial whose step threw: an error for Temporal to act on (with what is tried again, for those who wait),
 * or the error the trial is stored with.
 */
export type Consequence = { throw: Error; retried?: TrialFailure } | { errored: { kind: string; message: string } };

/** Rate limits are waited out; this many times the other failures may happen before a trial gives up on them. */
const RATE_LIMIT_FACTOR = 20;

/**
 * Sorts a failure by its kind: what every trial would meet stops the evaluation, what may pass is retried (and counted
 * in Postgres, so that restarts do not reset the count), the rest is stored with the trial.
 */
export async function consequenceOf(
  error: unknown,
  context: {
    /** Counts the failure in Postgres and lets go of the trial: the new count, null when fenced off. */
    count: (counter: FailureCounter) => Promise<number | null>;
    retry: RetryPolicy;
    canceled: boolean;
    shutdown: boolean;
    random: () => number;
    /** This process, for what only its environment lacks; see {@link workerName}. */
    worker: string;
  },
): Promise<Consequence> {
  if (error instanceof StopError) return { throw: stopFailure(error.stop) };
  if (context.canceled) return { throw: cancelFailure() };
  // A worker that leaves hands its trials on.
  if (context.shutdown) return { throw: retryFailure('the worker is shutting down', 'WorkerShutdown', 1) };
  if (error instanceof CancelledFailure) return { throw: error };
  if (error instanceof FencedError) return { throw: ApplicationFailure.nonRetryable(error.message, 'Fenced') };
  if (error instanceof WorkerCrashError) return count(error.message, 'worker_crashed', null, context);
  if (error instanceof UserError) return { throw: stopFailure(invalidSetup(error, context.worker)) };
  if (!(error instanceof ModelError)) return other(error, context);
  if (error.kind === 'aborted') return { throw: cancelFailure() };
  if (!isRetried(error.kind)) return { errored: { kind: error.kind, message: error.message } };
  // Nobody listening says nothing about this trial. Where no breaker bounds it, it is counted.
  if (isBreakersBusiness(error)) return retried(error.message, error.kind, backoff(context, 1));
  return count(error.message, error.kind, error.retryAfterMs, context);
}

/** A database that is away is waited for; a defect of a scorer or of ours must not hold its trial for ever. */
async function other(error: unknown, context: Parameters<typeof consequenceOf>[1]): Promise<Consequence> {
  const cause = error instanceof Error ? error : new Error(String(error));
  return isTransient(cause)
    ? { throw: cause }
    : count(`${cause.name}: ${cause.message}`, 'internal_error', null, context);
}

/** The stop for something only the user can mend. */
export function invalidSetup(error: UserError, worker: string): Stop {
  if (!(error instanceof MissingVariableError)) {
    return { kind: 'invalid_setup', message: sentences(error.message, error.hint) };
  }
  // Workers are started at different times, from different shells: setting it where `run` was typed may not reach this one.
  const remedy = `${worker} lacks it: set it there and restart that process.`;
  return { kind: 'unauthorized', message: sentences(sentences(error.message, remedy), error.hint) };
}

/** How a message calls this process. */
export function workerName(hostName: string): string {
  return `Worker ${process.pid} on ${hostName}`;
}

/** Hints are written for a line of their own, as a sentence or without a capital. */
function sentences(message: string, hint: string | null): string {
  if (hint === null) return message;
  const first = /^[a-z]+(?=[\s,])/.test(hint) ? `${hint.slice(0, 1).toUpperCase()}${hint.slice(1)}` : hint;
  return /[.!?:]$/.test(message) ? `${message} ${first}` : `${message}. ${first}`;
}

async function count(
  message: string,
  kind: string,
  retryAfterMs: number | null,
  context: Parameters<typeof consequenceOf>[1],
): Promise<Consequence> {
  const counter = COUNTER[kind] ?? 'model_failures';
  const failures = await context.count(counter);
  if (failures === null)
    return { throw: ApplicationFailure.nonRetryable('another worker has taken this trial over', 'Fenced') };
  const allowed =
    counter === 'deaths'
      ? context.retry.worker_deaths
      : counter === 'rate_limits'
        ? context.retry.model_failures * RATE_LIMIT_FACTOR
        : context.retry.model_failures;
  if (failures >= allowed) return { errored: { kind, message: `${message} (${failures} failures)` } };
  const asked = retryAfterMs === null ? null : Math.min(retryAfterMs, context.retry.max_retry_after_ms);
  return retried(message, kind, asked ?? backoff(context, failures));
}

const COUNTER: Record<string, FailureCounter> = {
  rate_limit: 'rate_limits',
  overloaded: 'rate_limits',
  worker_crashed: 'deaths',
};

/** Exponential with full jitter in the upper half: failures of many lanes do not come back at once. */
function backoff(context: { retry: RetryPolicy; random: () => number }, failures: number): number {
  const ceiling = Math.min(60_000, context.retry.backoff_ms * 2 ** (failures - 1));
  return ceiling * (0.5 + context.random() / 2);
}

export function stopFailure(stop: Stop): ApplicationFailure {
  return ApplicationFailure.create({ message: stop.message, type: STOP_FAILURE, nonRetryable: true, details: [stop] });
}

function cancelFailure(): ApplicationFailure {
  return ApplicationFailure.nonRetryable('the evaluation was canceled', CANCEL_FAILURE);
}

function retried(message: string, kind: string, delayMs: number): Consequence {
  return { throw: retryFailure(message, kind, delayMs), retried: { kind, message } };
}

function retryFailure(message: string, type: string, delayMs: number): ApplicationFailure {
  return ApplicationFailure.create({
    message,
    type,
    nonRetryable: false,
    nextRetryDelay: Math.max(1, Math.round(delayMs)),
  });
}
