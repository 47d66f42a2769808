import { expect, test } from 'vitest';
import { createSharedLook } from '../../../src/server/a2a/shared-look.ts';

test('followers of a task share a look for a moment; each task has its own, and a failed one is not kept', async () => {
  const looked: string[] = [];
  const expire: (() => void)[] = [];
  const look = createSharedLook(
    (id) => {
      looked.push(id);
      return looked.length === 1 ? Promise.reject(new Error('away')) : Promise.resolve(null);
    },
    200,
    () => new Promise<void>((resolve) => expire.push(resolve)),
  );
  const both = await Promise.allSettled([look('a'), look('a'), look('b')]);
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled']);
  expect(looked).toEqual(['a', 'b']);
  for (const one of expire) one();
  await Promise.resolve();
  await expect(look('a')).resolves.toBeNull();
  expect(looked).toEqual(['a', 'b', 'a']);
});
