import { expect, test } from 'vitest';
import { createAwayFilter, createConnectionNotes } from '../../../src/local/server-away.ts';

test('a server that is away is one line a minute, whatever the calls and attempts; other messages stay', () => {
  const clock = { now: 0 };
  const filter = createAwayFilter(() => clock.now);
  const attempt = (call: string, times: number): string | null => filter(`gRPC call ${call} retried ${times} times`);
  expect(attempt('poll_activity_task_queue', 6)).toMatch(/^Temporal does not answer/);
  expect(attempt('poll_workflow_task_queue', 6)).toBeNull();
  clock.now = 59_999;
  expect(attempt('poll_activity_task_queue', 9)).toBeNull();
  expect(filter('Worker state changed')).toBe('Worker state changed');
  clock.now = 60_000;
  expect(attempt('poll_activity_task_queue', 10)).toMatch(/^Temporal does not answer/);
});

test('a Postgres that ends twenty connections is one line a minute', () => {
  const clock = { now: 0 };
  const note = createConnectionNotes(() => clock.now);
  const ended = new Error('terminating connection due to administrator command');
  const said = Array.from({ length: 20 }, () => note(ended)).filter((line) => line !== null);
  expect(said).toEqual([
    'Postgres ended connections (terminating connection due to administrator command); new ones are made when they are needed',
  ]);
  clock.now = 60_000;
  expect(note(ended)).toMatch(/^Postgres ended connections/);
});
