import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { evenShardSize } from '../../../src/activities/plan.ts';

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
