import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import { stopSignal } from '../../../src/commands/stop-signal.ts';

function started(signals?: readonly NodeJS.Signals[]): {
  source: EventEmitter;
  seen: string[];
  clock: { now: number };
  stop: ReturnType<typeof stopSignal>;
} {
  const source = new EventEmitter();
  const seen: string[] = [];
  const clock = { now: 1000 };
  const stop = stopSignal({
    source,
    now: () => clock.now,
    leave: (code) => seen.push(`left ${code}`),
    onFirst: () => seen.push('first'),
    ...(signals === undefined ? {} : { signals }),
  });
  return { source, seen, clock, stop };
}

test('the first signal asks for a stop, a later one leaves at once', async () => {
  const { source, seen, clock, stop } = started();
  source.emit('SIGTERM');
  await stop.asked;
  expect(stop.signal.aborted).toBe(true);
  expect(seen).toEqual(['first']);
  clock.now += 500;
  source.emit('SIGINT');
  expect(seen).toEqual(['first', 'left 130']);
});

test('one Ctrl-C that arrives twice is one', () => {
  const { source, seen, clock } = started();
  source.emit('SIGINT');
  clock.now += 499;
  source.emit('SIGINT');
  expect(seen).toEqual(['first']);
});

test('it listens until it is disposed, to the signals it was given', () => {
  const { source, seen, stop } = started(['SIGHUP']);
  expect(source.listenerCount('SIGINT')).toBe(0);
  source.emit('SIGHUP');
  expect(source.listenerCount('SIGHUP')).toBe(1);
  stop.dispose();
  expect(source.listenerCount('SIGHUP')).toBe(0);
  expect(seen).toEqual(['first']);
});

test('of several the newest alone hears, and the one before it again after that', () => {
  const source = new EventEmitter();
  const seen: string[] = [];
  const outer = stopSignal({ source, onFirst: () => seen.push('outer') });
  const inner = stopSignal({ source, onFirst: () => seen.push('inner') });
  source.emit('SIGINT');
  expect(seen).toEqual(['inner']);
  expect(outer.signal.aborted).toBe(false);
  inner.dispose();
  source.emit('SIGINT');
  expect(seen).toEqual(['inner', 'outer']);
  expect(outer.signal.reason).toMatchObject({ exitCode: 130 });
  outer.dispose();
});
