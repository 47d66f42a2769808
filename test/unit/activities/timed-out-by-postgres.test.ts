import { expect, test } from 'vitest';
import { timedOutByPostgres } from '../../../src/activities/timed-out-by-postgres.ts';
import { isTransient } from '../../../src/db/transient.ts';

test('R14: a trial that ran out of time while Postgres was away is run again, and not counted', () => {
  const error = timedOutByPostgres('TIMEOUT', 59_900, 60_000);
  expect(error?.message).toBe('Postgres kept the trial waiting for 59900 of its 60000 ms');
  expect(isTransient(error)).toBe(true);
});

test('R14: a trial that ran out of time by itself counts, and so does every other end', () => {
  expect(timedOutByPostgres('TIMEOUT', 30, 60_000)).toBeNull();
  expect(timedOutByPostgres('COMPLETED', 59_900, 60_000)).toBeNull();
});
