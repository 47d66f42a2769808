import { ApplicationFailure, asyncLocalStorage, type Context } from '@temporalio/activity';
import { describe, expect, test } from 'vitest';
import { createCancellations } from '../../../src/activities/cancellations.ts';
import type { TrialStepInput, TrialStepResult } from '../../../src/activities/contract.ts';
import type { Lane } from '../../../src/activities/step.ts';
import { createPlaces } from '../../../src/activities/places.ts';
import { withinLanes } from '../../../src/activities/within-lanes.ts';
import { CANCEL_FAILURE, STOP_FAILURE } from '../../../src/core/failure-types.ts';
import type { StoredCase } from '../../../src/db/trial-reads.ts';

const settle = (): Promise<unknown> => new Promise((resolve) => setImmediate(resolve));
const LATER = { n: 'later' };

interface Seen {
  result?: TrialStepResult;
  error?: unknown;
}

interface Begun {
  lane: Lane | undefined;
  end: (result: TrialStepResult) => void;
  fail: (error: Error) => void;
}

/** A worker with one lane a shard, whose trials end when they are told to. */
function oneLane(
  readCase: (evaluationId: string, position: number) => Promise<StoredCase> = () => new Promise(() => undefined),
): {
  begun: Begun[];
  run: (shard: string, lanes?: number | null) => Promise<Seen>;
} {
  const begun: Begun[] = [];
  const step = withinLanes(
    (_, lane) => {
      const { promise, resolve, reject } = Promise.withResolvers<TrialStepResult>();
      begun.push({ lane, end: resolve, fail: reject });
      return promise;
    },
    {
      readCase,
      places: createPlaces({ patienceMs: 5_000, slots: 300 }),
      cancellations: createCancellations(),
      worker: 'abc',
    },
  );
  const run = async (shard: string, lanes: number | null = 1): Promise<Seen> => {
    const info = { workflowExecution: { workflowId: 'shard', runId: shard }, scheduledTimestampMs: 0 };
    const context = { info, cancellationSignal: new AbortController().signal } as Context;
    const input: TrialStepInput = { evaluationId: 'one', revision: 1, position: 0, trialIndex: 1 };
    const seen: Seen = {};
    void asyncLocalStorage
      .run(context, () => step(lanes === null ? input : { ...input, lanes }))
      .then(
        (result) => void (seen.result = result),
        (error: unknown) => void (seen.error = error),
      );
    await settle();
    return seen;
  };
  return { begun, run };
}
describe('within the lanes of a shard', () => {
  test('the next begins when the one before has ended, which tells where it ran', async () => {
    const { begun, run } = oneLane();
    const first = await run('a');
    await run('a');
    expect(begun).toHaveLength(1);
    begun[0]?.end({ n: 'done' });
    await settle();
    expect(first.result).toEqual({ n: 'done', w: 'abc' });
    expect(begun).toHaveLength(2);
  });

  test('the next begins when the one before has left its lane, and no second one when that ends', async () => {
    const { begun, run } = oneLane();
    for (let trial = 0; trial < 3; trial += 1) await run('a');
    begun[0]?.lane?.leave();
    begun[0]?.lane?.leave();
    await settle();
    expect(begun).toHaveLength(2);
    begun[0]?.end({ n: 'done' });
    await settle();
    expect(begun).toHaveLength(2);
    begun[1]?.end({ n: 'done' });
    await settle();
    expect(begun).toHaveLength(3);
  });

  test('a stop turns away who waits also when the lane was left', async () => {
    const { begun, run } = oneLane();
    for (let trial = 0; trial < 2; trial += 1) await run('a');
    begun[0]?.lane?.leave();
    const waiting = await run('a');
    begun[0]?.fail(ApplicationFailure.nonRetryable('over', STOP_FAILURE));
    await settle();
    expect(waiting.result).toEqual(LATER);
  });

  test('a case is read while its trial waits, and given to the step', async () => {
    const read: number[] = [];
    const stored = { contentHash: 'x' } as StoredCase;
    const { begun, run } = oneLane((_, position) => {
      read.push(position);
      return Promise.resolve(stored);
    });
    await run('a');
    await run('a');
    expect(read).toEqual([0, 0]);
    begun[0]?.end({ n: 'done' });
    await settle();
    expect(await begun[1]?.lane?.stored).toBe(stored);
  });

  test('a case that cannot be read is the business of the step alone', async () => {
    const unhandled: unknown[] = [];
    const note = (error: unknown): void => void unhandled.push(error);
    process.on('unhandledRejection', note);
    const { begun, run } = oneLane(() => Promise.reject(new Error('no such case')));
    await run('a');
    const back = await run('a');
    begun[0]?.end({ n: 'judge' });
    await settle();
    process.off('unhandledRejection', note);
    expect(back.result).toEqual(LATER);
    expect(unhandled).toEqual([]);
    await expect(begun[0]?.lane?.stored).rejects.toThrow('no such case');
  });

  test('a trial without a number of lanes neither waits nor takes a place', async () => {
    const { begun, run } = oneLane();
    await run('a');
    const free = await run('a', null);
    expect(begun).toHaveLength(2);
    begun[1]?.end({ n: 'done' });
    await settle();
    expect(free.result).toEqual({ n: 'done' });
  });

  test.each(['judge', 'isolation'] as const)('one that goes on as "%s" leaves no lane to its shard', async (n) => {
    const { begun, run } = oneLane();
    await run('a');
    await run('b');
    const [waiting, elsewhere] = [await run('a'), await run('b')];
    begun[0]?.end({ n });
    await settle();
    const onItsWay = await run('a');
    expect([waiting.result, onItsWay.result, elsewhere.result]).toEqual([LATER, LATER, undefined]);
    expect(begun).toHaveLength(2);
  });

  test.each([
    ['a stop', ApplicationFailure.nonRetryable('over', STOP_FAILURE)],
    ['a cancellation', ApplicationFailure.nonRetryable('over', CANCEL_FAILURE)],
  ])('%s turns away who waits in any shard of the evaluation', async (_, failure) => {
    const { begun, run } = oneLane();
    const first = await run('a');
    await run('b');
    const waiting = [await run('a'), await run('b')];
    begun[0]?.fail(failure);
    await settle();
    expect(first.error).toBe(failure);
    expect(waiting.map(({ result }) => result)).toEqual([LATER, LATER]);
  });

  test('the end of a trial by --fail-fast does, too', async () => {
    const { begun, run } = oneLane();
    await run('a');
    const waiting = await run('a');
    begun[0]?.end({ n: 'done', stop: { kind: 'fail_fast', message: 'no' } });
    await settle();
    expect(waiting.result).toEqual(LATER);
  });

  test.each([
    ['is tried again', ApplicationFailure.retryable('later', 'rate_limit')],
    ['another worker has taken over', ApplicationFailure.nonRetryable('taken over', 'Fenced')],
  ])('a trial that %s leaves its place to the next', async (_, failure) => {
    const { begun, run } = oneLane();
    await run('a');
    await run('a');
    begun[0]?.fail(failure);
    await settle();
    expect(begun).toHaveLength(2);
  });
});
