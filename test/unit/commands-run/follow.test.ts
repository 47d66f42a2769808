import { expect, test } from 'vitest';
import { formatSeconds, progressLine } from '../../../src/commands/follow.ts';

const progress = { planned: 60, passed: 20, failed: 10, unscored: 0, errored: 0, running: 5, recent: 0 };
const running = { suite: 'orders', status: 'running' } as const;

test('bar, counts, rate and time left', () => {
  const line = progressLine(running, progress, { done: 30, doneSince: 20, elapsedMs: 10_000 });
  expect(line).toContain('orders ━━━━━━━━━━━━──────────── 30/60 trials: 20 passed, 10 failed');
  expect(line).toContain('2.0/s');
  expect(line).toMatch(/15 s left/);
});

test('no rate is guessed from nothing', () => {
  for (const pace of [
    { done: 30, doneSince: 0, elapsedMs: 10_000 },
    { done: 30, doneSince: 5, elapsedMs: 500 },
  ]) {
    expect(progressLine(running, progress, pace)).not.toMatch(/left|\/s/);
  }
});

test('unscored and errored are named only where there are some; paused is said', () => {
  const line = progressLine(
    { suite: 'orders', status: 'paused' },
    { ...progress, unscored: 2, errored: 1 },
    { done: 33, doneSince: 0, elapsedMs: 0 },
  );
  expect(line).toContain('orders (paused)');
  expect(line).toContain('20 passed, 10 failed, 2 unscored, 1 errored');
  expect(progressLine(running, progress, { done: 30, doneSince: 0, elapsedMs: 0 })).not.toMatch(
    /unscored|errored|paused/,
  );
});

test('the bar is full when all is done, also of nothing', () => {
  expect(progressLine(running, progress, { done: 60, doneSince: 0, elapsedMs: 0 })).toContain(
    `${'━'.repeat(24)} 60/60`,
  );
  expect(progressLine(running, { ...progress, planned: 0 }, { done: 0, doneSince: 0, elapsedMs: 0 })).toContain(
    `${'━'.repeat(24)} 0/0`,
  );
});

test.each([
  [-3, '0 s'],
  [0, '0 s'],
  [0.2, '1 s'],
  [59, '59 s'],
  [59.5, '1 min 0 s'],
  [200, '3 min 20 s'],
  [3_599, '59 min 59 s'],
  [7_500, '2 h 5 min'],
])('%d seconds are %s', (seconds, text) => {
  expect(formatSeconds(seconds)).toBe(text);
});
