import { expect, test } from 'vitest';
import { UserError } from '../../../src/core/errors.ts';
import { createRestartNotes } from '../../../src/local/restart-notes.ts';

test('a restart that keeps failing is told once a minute with what to mend, and its end once', () => {
  const clock = { now: 0 };
  const said: string[] = [];
  const notes = createRestartNotes(
    (line) => said.push(line),
    () => clock.now,
  );
  const tryAgain = (): void => {
    notes.died('Postgres');
    notes.failed(new UserError('No space left.', { hint: 'Free some.' }));
  };
  notes.running();
  expect(said).toEqual([]);
  tryAgain();
  const failure =
    'restarting the embedded stack failed; it is tried again until it works: No space left.\n  → Free some.';
  expect(said).toEqual(['Postgres ended unexpectedly: starting again on the same data', failure]);
  clock.now = 59_999;
  tryAgain();
  expect(said).toHaveLength(2);
  clock.now = 60_000;
  tryAgain();
  expect(said.slice(2)).toEqual([failure]);
  notes.running();
  notes.running();
  expect(said.slice(3)).toEqual(['the embedded stack is back']);
  notes.died('Temporal');
  expect(said.slice(4)).toEqual(['Temporal ended unexpectedly: starting again on the same data']);
});

test('a restart that works at once is one line', () => {
  const said: string[] = [];
  const notes = createRestartNotes(
    (line) => said.push(line),
    () => 0,
  );
  notes.died('Postgres');
  notes.running();
  notes.died('Postgres');
  expect(said).toHaveLength(2);
});
