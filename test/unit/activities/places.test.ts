import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import fc from 'fast-check';
import { createPlaces } from '../../../src/activities/places.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const never = new AbortController().signal;
const open = (): ReturnType<typeof createPlaces> => createPlaces({ patienceMs: 2_000, slots: 300 });
const lanes = (limit: number, handedOutAt = 0): { limit: number; handedOutAt: number } => ({ limit, handedOutAt });
/** Whether it has been let in by now; undefined: it waits. */
function watch(entering: Promise<boolean>): { in: boolean | undefined } {
  const seen: { in: boolean | undefined } = { in: undefined };
  void entering.then((entered) => void (seen.in = entered));
  return seen;
}
const settle = (): Promise<unknown> => vi.advanceTimersByTimeAsync(0);

const A = { evaluationId: 'one', revision: 1, shard: 'one/a' };
const B = { evaluationId: 'one', revision: 1, shard: 'one/b' };

describe('places', () => {
  test('as many as there are get in; the others, in their order, as places get free', async () => {
    const places = open();
    const all = [1, 2, 3, 4].map(() => watch(places.enter(A, lanes(2), never)));
    await settle();
    expect(all.map((one) => one.in)).toEqual([true, true, undefined, undefined]);
    places.leave(A);
    await settle();
    expect(all.map((one) => one.in)).toEqual([true, true, true, undefined]);
    places.leave(A);
    await settle();
    expect(all.map((one) => one.in)).toEqual([true, true, true, true]);
  });

  test('a shard whose last trial has left its place and is not gone is closed with the others', async () => {
    const places = open();
    await places.enter(A, lanes(1), never);
    places.leave(A);
    places.close({ evaluationId: 'one' });
    expect(await places.enter(A, lanes(1), never)).toBe(false);
  });

  test('one that has left its place and is not gone still has its slot of the worker', async () => {
    const places = createPlaces({ patienceMs: 2_000, slots: 3 });
    await places.enter(A, lanes(1), never);
    places.leave(A);
    await places.enter(A, lanes(1), never);
    expect(await places.enter(A, lanes(1), never)).toBe(false);
    places.gone(A);
    const waiting = watch(places.enter(A, lanes(1), never));
    await settle();
    expect(waiting.in).toBeUndefined();
  });

  test('shards do not share places', async () => {
    const places = open();
    expect(await places.enter(A, lanes(1), never)).toBe(true);
    expect(await places.enter(B, lanes(1), never)).toBe(true);
    places.leave(A);
    expect(await places.enter(A, lanes(1), never)).toBe(true);
  });

  test('who waits too long is turned away, and takes no place afterwards', async () => {
    const places = open();
    await places.enter(A, lanes(1), never);
    const late = watch(places.enter(A, lanes(1), never));
    await vi.advanceTimersByTimeAsync(1_999);
    expect(late.in).toBeUndefined();
    await vi.advanceTimersByTimeAsync(1);
    expect(late.in).toBe(false);
    places.leave(A);
    expect(await places.enter(A, lanes(1), never)).toBe(true);
  });

  test('a cancellation ends the wait; who could enter at once does, so that the step itself sees the cancellation', async () => {
    const places = open();
    const canceled = new AbortController();
    await places.enter(A, lanes(1), never);
    const waiting = watch(places.enter(A, lanes(1), canceled.signal));
    canceled.abort();
    await settle();
    expect(waiting.in).toBe(false);
    expect(await places.enter(A, lanes(1), canceled.signal)).toBe(false);
    places.leave(A);
    expect(await places.enter(A, lanes(1), canceled.signal)).toBe(true);
  });

  test('closing an evaluation turns away who waits in any of its shards and who was on the way, and nobody else', async () => {
    const places = open();
    const other = { evaluationId: 'two', revision: 1, shard: 'two/a' };
    const resumed = { ...A, revision: 2, shard: 'one/a again' };
    for (const of of [A, B, other, resumed]) await places.enter(of, lanes(1), never);
    const waiting = [A, B, other, resumed].map((of) => watch(places.enter(of, lanes(1), never)));
    places.close({ evaluationId: 'one', revision: 1 });
    await settle();
    expect(waiting.map((one) => one.in)).toEqual([false, false, undefined, undefined]);
    places.leave(A);
    expect(await places.enter(A, lanes(1), never)).toBe(false);
  });

  test('a pause, which names no revision, turns away who waits in any shard of any', async () => {
    const places = open();
    const [other, resumed] = [
      { ...A, evaluationId: 'two', shard: 'two/a' },
      { ...A, revision: 2, shard: 'one/a again' },
    ];
    for (const of of [A, other, resumed]) await places.enter(of, lanes(1), never);
    const waiting = [A, other, resumed].map((of) => watch(places.enter(of, lanes(1), never)));
    places.close({ evaluationId: 'one' });
    await settle();
    expect(waiting.map((one) => one.in)).toEqual([false, undefined, false]);
  });

  test('closing a shard leaves the others open', async () => {
    const places = open();
    for (const of of [A, B]) await places.enter(of, lanes(1), never);
    const waiting = [A, B].map((of) => watch(places.enter(of, lanes(1), never)));
    places.close(A);
    places.leave(B);
    await settle();
    expect(waiting.map((one) => one.in)).toEqual([false, true]);
  });

  test('the newest trial says how many places there are, not a retry of one handed out before', async () => {
    const places = open();
    await places.enter(A, lanes(3, 1), never);
    await places.enter(A, lanes(3, 2), never);
    const waits = watch(places.enter(A, lanes(1, 3), never));
    const retry = watch(places.enter(A, lanes(3, 1), never));
    await settle();
    expect([waits.in, retry.in]).toEqual([undefined, undefined]);
    places.leave(A);
    await settle();
    expect([waits.in, retry.in]).toEqual([undefined, undefined]);
    places.leave(A);
    await settle();
    expect([waits.in, retry.in]).toEqual([true, undefined]);
  });

  test('one that may not wait and says that there are more places lets in those who do', async () => {
    const places = createPlaces({ patienceMs: 2_000, slots: 3 });
    await places.enter(A, lanes(1, 1), never);
    const waits = watch(places.enter(A, lanes(1, 1), never));
    expect(await places.enter(A, lanes(2, 2), never)).toBe(false);
    await settle();
    expect(waits.in).toBe(true);
  });

  test('more places: those who wait get in; fewer: nobody is sent away, the next wait until enough have left', async () => {
    const places = open();
    await places.enter(A, lanes(1), never);
    const second = watch(places.enter(A, lanes(1), never));
    const third = watch(places.enter(A, lanes(3), never));
    await settle();
    expect([second.in, third.in]).toEqual([true, true]);
    const fourth = watch(places.enter(A, lanes(1), never));
    places.leave(A);
    places.leave(A);
    await settle();
    expect(fourth.in).toBeUndefined();
    places.leave(A);
    await settle();
    expect(fourth.in).toBe(true);
  });

  test('nobody waits on the last slot of the worker', async () => {
    const places = createPlaces({ patienceMs: 2_000, slots: 3 });
    await places.enter(A, lanes(1), never);
    const waits = watch(places.enter(A, lanes(1), never));
    await settle();
    expect(waits.in).toBeUndefined();
    expect(await places.enter(A, lanes(1), never)).toBe(false);
    expect(await places.enter(B, lanes(1), never)).toBe(true);
  });

  test('whatever comes and goes: never more inside than the limit, and none waits while there is a place', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 4 }),
        fc.array(fc.constantFrom('enter', 'leave', 'abort', 'time'), { maxLength: 60 }),
        async (limit, events) => {
          const places = open();
          const all: { seen: { in: boolean | undefined }; left: boolean; stop: AbortController }[] = [];
          const inside = (): typeof all => all.filter((one) => one.seen.in === true && !one.left);
          const waiting = (): typeof all => all.filter((one) => one.seen.in === undefined);
          for (const event of events) {
            if (event === 'enter') {
              const stop = new AbortController();
              all.push({ seen: watch(places.enter(A, lanes(limit), stop.signal)), left: false, stop });
            } else if (event === 'time') {
              await vi.advanceTimersByTimeAsync(700);
            } else if (event === 'abort') {
              waiting()[0]?.stop.abort();
            } else {
              const [one] = inside();
              if (one !== undefined) {
                one.left = true;
                places.leave(A);
              }
            }
            await settle();
            expect(inside().length).toBeLessThanOrEqual(limit);
            if (waiting().length > 0) expect(inside().length).toBe(limit);
          }
        },
      ),
    );
  });
});
