import { ApplicationFailure, CancelledFailure } from '@temporalio/activity';
import { describe, expect, test } from 'vitest';
import { createBreaker, StopError } from '../../../src/activities/breaker.ts';
import { CANCEL_FAILURE, STOP_FAILURE } from '../../../src/core/failure-types.ts';
import { type Consequence, consequenceOf } from '../../../src/activities/trial-failure.ts';
import { FencedError } from '../../../src/activities/trial-model.ts';
import { WorkerCrashError } from '../../../src/agents/module/worker-crash.ts';
import { MissingVariableError, ModelError, type ModelErrorKind, UserError } from '../../../src/core/errors.ts';

const retry = { model_failures: 5, worker_deaths: 3, max_retry_after_ms: 300_000, backoff_ms: 1_000 };

/** What becomes of an error when the trial has had `failures` of its kind, this one included. */
async function consequence(
  error: unknown,
  more: { failures?: number | null; canceled?: boolean; shutdown?: boolean; random?: number } = {},
): Promise<Consequence & { counter: string | null }> {
  let counted: string | null = null;
  const result = await consequenceOf(error, {
    count: (counter) => {
      counted = counter;
      return Promise.resolve(more.failures === undefined ? 1 : more.failures);
    },
    retry,
    canceled: more.canceled ?? false,
    shutdown: more.shutdown ?? false,
    random: () => more.random ?? 0,
    worker: 'Worker 7 on here',
  });
  return { ...result, counter: counted };
}

const failureOf = (result: Consequence): ApplicationFailure => {
  if (!('throw' in result) || !(result.throw instanceof ApplicationFailure))
    throw new Error(`no ApplicationFailure: ${JSON.stringify(result)}`);
  return result.throw;
};
const model = (kind: ModelErrorKind, retryAfterMs: number | null = null): ModelError =>
  new ModelError(kind, `it said ${kind}`, { retryAfterMs });

describe('retried and counted', () => {
  test.each([
    ['rate_limit', 'rate_limits'],
    ['overloaded', 'rate_limits'],
    ['server_error', 'model_failures'],
    ['timeout', 'model_failures'],
    ['connection', 'model_failures'],
    ['invalid_reply', 'model_failures'],
  ] as const)('%s counts under %s', async (kind, counter) => {
    const result = await consequence(model(kind));
    expect(result.counter).toBe(counter);
    expect(failureOf(result)).toMatchObject({ type: kind, nonRetryable: false, nextRetryDelay: 500 });
    expect(result).toMatchObject({ retried: { kind, message: `it said ${kind}` } });
  });

  test('the wait doubles with jitter in its upper half, and is bounded', async () => {
    const waits = async (random: number): Promise<unknown[]> =>
      Promise.all(
        [1, 2, 4].map(
          async (failures) => failureOf(await consequence(model('server_error'), { failures, random })).nextRetryDelay,
        ),
      );
    expect(await waits(0)).toEqual([500, 1_000, 4_000]);
    expect(await waits(1)).toEqual([1_000, 2_000, 8_000]);
    const late = await consequence(model('rate_limit'), { failures: 40, random: 1 });
    expect(failureOf(late).nextRetryDelay).toBe(60_000);
  });

  test('the last failure allowed stores the trial as errored, with the count', async () => {
    expect(await consequence(model('server_error'), { failures: 4 })).toHaveProperty('throw');
    expect(await consequence(model('server_error'), { failures: 5 })).toMatchObject({
      errored: { kind: 'server_error', message: 'it said server_error (5 failures)' },
    });
  });

  test('rate limits are waited out far longer', async () => {
    expect(await consequence(model('rate_limit'), { failures: 99 })).toHaveProperty('throw');
    expect(await consequence(model('rate_limit'), { failures: 100 })).toMatchObject({
      errored: { kind: 'rate_limit' },
    });
  });
});

describe('R6: what the endpoint asks to wait', () => {
  test.each([
    [2_000, 2_000],
    [500, 500],
    [3_600_000, 300_000],
  ])('R6: %i ms is waited as %i ms, by the server: no slot is held', async (asked, waited) => {
    expect(failureOf(await consequence(model('rate_limit', asked))).nextRetryDelay).toBe(waited);
  });
  test('R6: nothing usable: backoff', async () => {
    expect(failureOf(await consequence(model('rate_limit', null))).nextRetryDelay).toBe(500);
  });
});

test.each(['bad_request', 'context_length', 'content_filter'] as const)(
  '%s is the trial’s own: errored at once',
  async (kind) => {
    expect(await consequence(model(kind))).toEqual({ errored: { kind, message: `it said ${kind}` }, counter: null });
  },
);

test('nobody listening is not counted: the breaker decides', async () => {
  const cause = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
  const error = new ModelError('connection', 'away', { cause });
  const client = { complete: () => Promise.reject(error) };
  const breaker = createBreaker(client, { graceMs: 60_000, now: () => 0 });
  const options = { signal: new AbortController().signal, timeoutMs: 1_000 };
  await expect(breaker.complete({ model: 'm', messages: [] }, options)).rejects.toBe(error);
  const result = await consequence(error);
  expect(result.counter).toBeNull();
  expect(failureOf(result)).toMatchObject({ nonRetryable: false, nextRetryDelay: 500 });
});

test('R8: nobody listening where no breaker looks is counted: it is not retried for ever', async () => {
  const cause = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
  const error = new ModelError('connection', 'away', { cause });
  expect((await consequence(error)).counter).toBe('model_failures');
  expect(await consequence(error, { failures: 5 })).toMatchObject({ errored: { kind: 'connection' } });
});

test('a stop ends the evaluation, with its cause as detail', async () => {
  const stop = { kind: 'unauthorized', message: 'wrong key' } as const;
  const failure = failureOf(await consequence(new StopError(stop)));
  expect(failure).toMatchObject({ type: STOP_FAILURE, nonRetryable: true, message: 'wrong key', details: [stop] });
  // Also while it is being canceled: the cause is worth knowing.
  expect(failureOf(await consequence(new StopError(stop), { canceled: true })).type).toBe(STOP_FAILURE);
});

test('what only the user can mend stops the evaluation and says how', async () => {
  const failure = failureOf(await consequence(new UserError('agent.ts: no default export', { hint: 'export one' })));
  expect(failure).toMatchObject({ type: STOP_FAILURE, message: 'agent.ts: no default export. Export one' });
});

test.each([
  ['no module.', 'it was looked for here', 'no module. It was looked for here'],
  ['no card', 'card_url is its address', 'no card. card_url is its address'],
  ['no suite', '`assay init` writes one', 'no suite. `assay init` writes one'],
  ['no card', null, 'no card'],
])('message and hint are sentences: %j, %j', async (message, hint, expected) => {
  const error = new UserError(message, hint === null ? {} : { hint });
  expect(failureOf(await consequence(error)).message).toBe(expected);
});

test('a variable that this process lacks stops as a refused key does, and names the process to restart', async () => {
  const error = new MissingVariableError('agent.auth_env names TOK, which is not set', 'Leave it out.');
  const { message, details } = failureOf(await consequence(error));
  expect(message).toBe(
    'agent.auth_env names TOK, which is not set. Worker 7 on here lacks it: set it there and restart that process. Leave it out.',
  );
  expect(details).toEqual([{ kind: 'unauthorized', message }]);
});

test('canceled: whatever the call ended with, no retry and nothing stored', async () => {
  for (const error of [
    model('aborted'),
    model('server_error'),
    new Error('x'),
    new WorkerCrashError('x', { exitCode: 1, exitSignal: null }),
  ]) {
    const result = await consequence(error, { canceled: true });
    expect(failureOf(result)).toMatchObject({ type: CANCEL_FAILURE, nonRetryable: true });
    expect(result.counter).toBeNull();
  }
});

test('a worker that shuts down hands the trial on without counting', async () => {
  const result = await consequence(model('aborted'), { shutdown: true });
  expect(failureOf(result)).toMatchObject({ type: 'WorkerShutdown', nonRetryable: false, nextRetryDelay: 1 });
  expect(result.counter).toBeNull();
});

test('fenced off: no retry, another worker has it', async () => {
  expect(failureOf(await consequence(new FencedError()))).toMatchObject({ type: 'Fenced', nonRetryable: true });
  expect(failureOf(await consequence(model('server_error'), { failures: null }))).toMatchObject({ type: 'Fenced' });
});

test('R22: deaths of the process of a module agent have a count of their own', async () => {
  const crash = new WorkerCrashError('exit code 7', { exitCode: 7, exitSignal: null });
  const second = await consequence(crash, { failures: 2 });
  expect(second.counter).toBe('deaths');
  expect(failureOf(second)).toMatchObject({ type: 'worker_crashed', nonRetryable: false });
  expect(await consequence(crash, { failures: 3 })).toMatchObject({
    errored: { kind: 'worker_crashed', message: 'exit code 7 (3 failures)' },
  });
});

test('a database that is away is retried for as long as it takes; a defect is counted', async () => {
  const away = Object.assign(new Error('terminating connection'), { code: '57P01' });
  expect(await consequence(away)).toEqual({ throw: away, counter: null });
  const defect = await consequence(new TypeError('x is not a function'), { failures: 2 });
  expect(defect.counter).toBe('model_failures');
  expect(failureOf(defect)).toMatchObject({ type: 'internal_error', nonRetryable: false });
  expect(await consequence(new TypeError('x is not a function'), { failures: 5 })).toMatchObject({
    errored: { kind: 'internal_error', message: 'TypeError: x is not a function (5 failures)' },
  });
});

test('a cancellation of Temporal’s own passes through', async () => {
  const error = new CancelledFailure('CANCELLED');
  expect(await consequence(error)).toEqual({ throw: error, counter: null });
});
