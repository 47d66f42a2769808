import { expect, test } from 'vitest';
import { unlessAborted } from '../../../src/commands/interruptible.ts';

const never = (): Promise<never> => new Promise(() => undefined);

test('work that ends is worth its result, and its own failure is passed on', async () => {
  const { signal } = new AbortController();
  expect(await unlessAborted(signal, Promise.resolve(3))).toBe(3);
  await expect(unlessAborted(signal, Promise.reject(new Error('no')))).rejects.toThrow('no');
});

test('an abort before or during the work is thrown with its reason', async () => {
  const reason = new Error('stop');
  const controller = new AbortController();
  const waiting = unlessAborted(controller.signal, never());
  controller.abort(reason);
  await expect(waiting).rejects.toBe(reason);
  await expect(unlessAborted(controller.signal, never())).rejects.toBe(reason);
});

test('what fails after the abort disturbs nobody', async () => {
  const controller = new AbortController();
  const unhandled: unknown[] = [];
  const note = (error: unknown): void => void unhandled.push(error);
  process.on('unhandledRejection', note);
  const late = Promise.withResolvers<never>();
  const waiting = unlessAborted(controller.signal, late.promise);
  controller.abort(new Error('stop'));
  await expect(waiting).rejects.toThrow('stop');
  late.reject(new Error('late'));
  await new Promise((resolve) => setImmediate(resolve));
  process.off('unhandledRejection', note);
  expect(unhandled).toEqual([]);
});
