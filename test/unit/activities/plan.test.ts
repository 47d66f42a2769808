import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { evenShardSize, lookAheadShare } from '../../../src/activities/plan.ts';

test.each([
  [1_000, 400, 334],
  [800, 400, 400],
  [801, 400, 267],
  [7, 400, 7],
  [0, 400, 1],
  [5, 1, 1],
])('%i trials in shards of at most %i: %i each', (trials, largest, size) => {
  expect(evenShardSize(trials, largest)).toBe(size);
});

test('no more shards than it takes, and none is shorter than the others by more than their number', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 200_000 }), fc.integer({ min: 1, max: 500 }), (trials, largest) => {
      const size = evenShardSize(trials, largest);
      const shards = Math.ceil(trials / size);
      expect(size).toBeLessThanOrEqual(largest);
      expect(shards).toBeLessThanOrEqual(Math.ceil(trials / largest));
      expect(size * shards - trials).toBeLessThan(size);
      expect(size * Math.ceil(trials / largest) - trials).toBeLessThan(Math.ceil(trials / largest));
    }),
  );
});

test.each([
  // Lanes, shards side by side, slots, share.
  [50, 3, 300, 0.8],
  [160, 4, 300, 0.8],
  [200, 4, 300, 0.47],
  [293, 4, 300, 1 / 293],
  [294, 4, 300, 0],
  [400, 4, 300, 0],
  [1, 1, 3, 0],
  [1, 1, 5, 0.8],
])('%i lanes in %i shards on %i slots hand out %f of them early', (lanes, shards, slots, share) => {
  expect(lookAheadShare(lanes, shards, slots)).toBeCloseTo(share);
});

test('those in lanes and those that wait never take the last slot of a worker', () => {
  const numbers = fc.record({
    concurrency: fc.integer({ min: 1, max: 400 }),
    shards: fc.integer({ min: 1, max: 8 }),
    slots: fc.integer({ min: 1, max: 400 }),
  });
  fc.assert(
    fc.property(numbers, ({ concurrency, shards, slots }) => {
      const share = lookAheadShare(concurrency, shards, slots);
      const lanes = Array.from(
        { length: Math.min(shards, concurrency) },
        (_, index) => Math.floor(concurrency / shards) + (index < concurrency % shards ? 1 : 0),
      );
      const handedOut = lanes.reduce((sum, count) => sum + count + Math.ceil(count * share), 0);
      if (share > 0) expect(handedOut).toBeLessThan(slots - 1);
    }),
  );
});
