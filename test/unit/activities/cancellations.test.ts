import { expect, test } from 'vitest';
import { createCancellations } from '../../../src/activities/cancellations.ts';

test('a cancellation aborts what runs of that evaluation, and of no other', () => {
  const cancellations = createCancellations();
  const one = cancellations.signalOf('a', 1);
  const other = cancellations.signalOf('b', 1);
  cancellations.cancel('a');
  expect(one.aborted).toBe(true);
  expect(other.aborted).toBe(false);
  expect(cancellations.signalOf('a', 1)).toBe(one);
});

test('a resume (a new revision) works on a worker that was told of the cancellation', () => {
  const cancellations = createCancellations();
  cancellations.signalOf('a', 1);
  cancellations.cancel('a');
  const resumed = cancellations.signalOf('a', 2);
  expect(resumed.aborted).toBe(false);
  // A leftover of the older revision is not wanted any more.
  expect(cancellations.signalOf('a', 1).aborted).toBe(true);
  expect(resumed.aborted).toBe(false);
});

test('a notice about an evaluation this worker never saw is no harm', () => {
  const cancellations = createCancellations();
  cancellations.cancel('a');
  expect(cancellations.signalOf('a', 1).aborted).toBe(false);
});
