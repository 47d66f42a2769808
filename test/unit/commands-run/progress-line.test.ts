import { expect, test } from 'vitest';
import { displayWidth } from '../../../src/report/align.ts';
import { formatSeconds, progressLine } from '../../../src/commands/run/progress-line.ts';

const progress = { planned: 60, passed: 20, failed: 10, unscored: 0, errored: 0, running: 5, recent: 0 };
const running = { suite: 'orders', status: 'running' } as const;

test('bar, counts, rate and time left', () => {
  const line = progressLine(running, progress, { done: 30, doneSince: 20, elapsedMs: 10_000 });
  expect(line).toContain('orders ━━━━━━━━━━━━──────────── 30/60 trials: 20 passed, 10 failed');
  expect(line).toContain('2.0/s');
  expect(line).toMatch(/15 s left/);
});

test('it never reaches the last column: the bar shrinks, then the rate goes, then the words', () => {
  const counts = {
    planned: 100_000,
    passed: 81_234,
    failed: 7_654,
    unscored: 321,
    errored: 99,
    running: 50,
    recent: 0,
  };
  const pace = { done: 89_308, doneSince: 5_000, elapsedMs: 60_000 };
  const row = { suite: '能源-benchmark-nightly', status: 'paused' } as const;
  for (let columns = 10; columns <= 140; columns += 1) {
    expect(displayWidth(progressLine(row, counts, pace, columns)), `at ${columns}`).toBeLessThan(columns);
  }
  const at = (columns: number): string => progressLine(running, progress, { ...pace, done: 30 }, columns);
  expect(at(140)).toBe(progressLine(running, progress, { ...pace, done: 30 }));
  expect(at(80)).toBe('orders ━━━━━━━━──────── 30/60 trials: 20 passed, 10 failed · 83.3/s, 1 s left');
  expect(at(70)).toBe('orders ━━━━━───── 30/60 trials: 20 passed, 10 failed · 1 s left');
  expect(at(55)).toBe('orders ━━━━━───── 30/60 trials: ✓ 20 ✗ 10 · 1 s left');
  expect(at(40)).toBe('orders 30/60 trials · 1 s left');
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

test('trials in flight are counted while there is no rate, and when none waits behind them', () => {
  const flying = { ...progress, planned: 6, passed: 0, failed: 0, running: 6 };
  expect(progressLine(running, flying, { done: 0, doneSince: 0, elapsedMs: 300 })).toMatch(
    /0\/6 trials: 0 passed, 0 failed · 6 running$/,
  );
  const middle = { done: 30, doneSince: 20, elapsedMs: 10_000 };
  expect(progressLine(running, progress, middle)).not.toContain('running');
  expect(progressLine(running, { ...progress, planned: 35 }, middle)).toMatch(/ · 5 running, 2\.0\/s, 3 s left$/);
  expect(progressLine(running, { ...progress, running: 0 }, { ...middle, doneSince: 0 })).not.toContain('running');
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
