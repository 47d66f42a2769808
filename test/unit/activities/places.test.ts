import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import fc from 'fast-check';
import { createPlaces } from '../../../src/activities/places.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const never = new AbortController().signal;
const open = (): ReturnType<typeof createPlaces> => createPlaces({ patienceMs: 2_000, slots: 300 });
/** Whether it has been let in by now; undefined: it waits. */
function watch(entering: Promise<boolean>): { in: boolean | undefined } {
  const seen: { in: boolean | undefined } = { in: undefined };
  void entering.then((entered) => void (seen.in = entered));
  return seen;
}
const settle = (): Promise<unknown> => vi.advanceTimersByTimeAsync(0);

const A = { evaluationId: 'one', shard: 'one/a' };
const B = { evaluationId: 'one', shard: 'one/b' };

describe('places', () => {
  test('as many as there are get in; the others, in their order, as places get free', async () => {
    const places = open();
    const all = [1, 2, 3, 4].map(() => watch(places.enter(A, 2, never)));
    await settle();
    expect(all.map((one) => one.in)).toEqual([true, true, undefined, undefined]);
    places.leave(A);
    await settle();
    expect(all.map((one) => one.in)).toEqual([true, true, true, undefined]);
    places.leave(A);
    await settle();
    expect(all.map((one) => one.in)).toEqual([true, true, true, true]);
  });

  test('shards do not share places', async () => {
    const places = open();
    expect(await places.enter(A, 1, never)).toBe(true);
    expect(await places.enter(B, 1, never)).toBe(true);
    places.leave(A);
    expect(await places.enter(A, 1, never)).toBe(true);
  });

  test('who waits too long is turned away, and takes no place afterwards', async () => {
    const places = open();
    await places.enter(A, 1, never);
    const late = watch(places.enter(A, 1, never));
    await vi.advanceTimersByTimeAsync(1_999);
    expect(late.in).toBeUndefined();
    await vi.advanceTimersByTimeAsync(1);
    expect(late.in).toBe(false);
    places.leave(A);
    expect(await places.enter(A, 1, never)).toBe(true);
  });

  test('a cancellation ends the wait; who could enter at once does, so that the step itself sees the cancellation', async () => {
    const places = open();
    const canceled = new AbortController();
    await places.enter(A, 1, never);
    const waiting = watch(places.enter(A, 1, canceled.signal));
    canceled.abort();
    await settle();
    expect(waiting.in).toBe(false);
    expect(await places.enter(A, 1, canceled.signal)).toBe(false);
    places.leave(A);
    expect(await places.enter(A, 1, canceled.signal)).toBe(true);
  });

  test('a stop of the evaluation turns away who waits in any of its shards, and nobody else', async () => {
    const places = open();
    const other = { evaluationId: 'two', shard: 'two/a' };
    for (const of of [A, B, other]) await places.enter(of, 1, never);
    const waiting = [A, B, other].map((of) => watch(places.enter(of, 1, never)));
    places.turnAway('one');
    await settle();
    expect(waiting.map((one) => one.in)).toEqual([false, false, undefined]);
    places.leave(A);
    expect(await places.enter(A, 1, never)).toBe(true);
  });

  test('more places: those who wait get in; fewer: nobody is sent away, the next wait until enough have left', async () => {
    const places = open();
    await places.enter(A, 1, never);
    const second = watch(places.enter(A, 1, never));
    const third = watch(places.enter(A, 3, never));
    await settle();
    expect([second.in, third.in]).toEqual([true, true]);
    const fourth = watch(places.enter(A, 1, never));
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
    await places.enter(A, 1, never);
    const waits = watch(places.enter(A, 1, never));
    await settle();
    expect(waits.in).toBeUndefined();
    expect(await places.enter(A, 1, never)).toBe(false);
    expect(await places.enter(B, 1, never)).toBe(true);
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
              all.push({ seen: watch(places.enter(A, limit, stop.signal)), left: false, stop });
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
