import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createBatcher } from '../../../src/db/batch.ts';

interface Item {
  key: string;
  n: number;
}
const keyOf = (item: Item): string => item.key;
const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('operations of one tick go in one flush, and each gets its own result', async () => {
  const flushes: number[][] = [];
  const batcher = createBatcher<Item, number>({
    keyOf,
    flush: (items) => {
      flushes.push(items.map((item) => item.n));
      return Promise.resolve(items.map((item) => item.n * 10));
    },
  });
  const results = await Promise.all([1, 2, 3].map((n) => batcher.submit({ key: `k${n}`, n })));
  expect(results).toEqual([10, 20, 30]);
  expect(flushes).toEqual([[1, 2, 3]]);
});

test('while a flush is under way the next batch collects', async () => {
  const flushes: number[][] = [];
  let release = (): void => undefined;
  const batcher = createBatcher<Item, number>({
    keyOf,
    flush: async (items) => {
      flushes.push(items.map((item) => item.n));
      if (flushes.length === 1) await new Promise<void>((resolve) => (release = resolve));
      return items.map((item) => item.n);
    },
  });
  const first = batcher.submit({ key: 'a', n: 1 });
  await tick();
  const others = [2, 3, 4].map((n) => batcher.submit({ key: `k${n}`, n }));
  await tick();
  expect(flushes).toEqual([[1]]);
  release();
  expect(await Promise.all([first, ...others])).toEqual([1, 2, 3, 4]);
  expect(flushes).toEqual([[1], [2, 3, 4]]);
});

test('an item that is refused fails alone: the others of its batch are tried again one by one', async () => {
  const batcher = createBatcher<Item, number>({
    keyOf,
    flush: (items) =>
      items.some((item) => item.n === 2)
        ? Promise.reject(new Error('refused'))
        : Promise.resolve(items.map((item) => item.n)),
  });
  const results = await Promise.allSettled([1, 2, 3, 4].map((n) => batcher.submit({ key: `k${n}`, n })));
  expect(results.map((result) => result.status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
  // And it goes on afterwards.
  await expect(batcher.submit({ key: 'z', n: 9 })).resolves.toBe(9);
});

test('an outage rejects its batch at once, without a try for each item', async () => {
  let flushes = 0;
  const batcher = createBatcher<Item, number>({
    keyOf,
    isOutage: (error) => error instanceof Error && error.message === 'away',
    flush: () => {
      flushes += 1;
      return Promise.reject(new Error('away'));
    },
  });
  const results = await Promise.allSettled([1, 2, 3].map((n) => batcher.submit({ key: `k${n}`, n })));
  expect(results.map((result) => result.status)).toEqual(['rejected', 'rejected', 'rejected']);
  expect(flushes).toBe(1);
});

test('laws: no key twice in a batch, sizes bounded, equal keys in order, every item flushed once with its own result', async () => {
  const items = fc.array(fc.record({ key: fc.constantFrom('a', 'b', 'c', 'd'), gap: fc.boolean() }), { maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(
      items,
      fc.integer({ min: 1, max: 5 }),
      fc.integer({ min: 1, max: 3 }),
      async (plan, maxItems, parallel) => {
        const seen: number[] = [];
        let active = 0;
        const batcher = createBatcher<Item, number>({
          keyOf,
          maxItems,
          parallel,
          flush: async (batch) => {
            active += 1;
            expect(active).toBeLessThanOrEqual(parallel);
            expect(batch.length).toBeGreaterThan(0);
            expect(batch.length).toBeLessThanOrEqual(maxItems);
            expect(new Set(batch.map(keyOf)).size).toBe(batch.length);
            seen.push(...batch.map((item) => item.n));
            await tick();
            active -= 1;
            return batch.map((item) => item.n + 0.5);
          },
        });
        const results: Promise<number>[] = [];
        for (const [n, { key, gap }] of plan.entries()) {
          results.push(batcher.submit({ key, n }));
          if (gap) await tick();
        }
        expect(await Promise.all(results)).toEqual(plan.map((_, n) => n + 0.5));
        expect([...seen].sort((a, b) => a - b)).toEqual(plan.map((_, n) => n));
        for (const key of ['a', 'b', 'c', 'd']) {
          const order = seen.filter((n) => plan[n]?.key === key);
          expect(order).toEqual([...order].sort((a, b) => a - b));
        }
      },
    ),
    { numRuns: 60 },
  );
});
