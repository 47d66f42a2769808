import { describe, expect, test } from 'vitest';
import { createLookAhead } from '../../../src/workflows/look-ahead.ts';

type LookAhead = ReturnType<typeof createLookAhead>;
const done = (look: LookAhead, w: string, times: number): void => {
  for (let n = 0; n < times; n += 1) look.note({ n: 'done', w });
};

describe('look-ahead', () => {
  test('begins when as many trials as there are lanes have ended in one worker', () => {
    const look = createLookAhead(0.25);
    done(look, 'a', 9);
    expect(look.extra(10)).toBe(0);
    done(look, 'a', 1);
    expect(look.extra(10)).toBe(3);
    expect(look.extra(1)).toBe(1);
    expect(look.extra(11)).toBe(0);
    expect(look.on()).toBe(true);
  });

  test.each([1, 10, 20])('ends for good with a trial of another worker, after %i', (before) => {
    const look = createLookAhead(0.25);
    done(look, 'a', before);
    done(look, 'b', 1);
    expect(look.extra(10)).toBe(0);
    done(look, 'a', 100);
    expect(look.extra(10)).toBe(0);
    expect(look.on()).toBe(false);
  });

  test.each(['later', 'judge', 'isolation'] as const)('ends for good with a trial that goes on as "%s"', (n) => {
    const look = createLookAhead(0.25);
    done(look, 'a', 20);
    look.note({ n, ...(n === 'later' ? {} : { w: 'a' }) });
    done(look, 'a', 100);
    expect(look.extra(10)).toBe(0);
    expect(look.on()).toBe(false);
  });

  test('never with a share of 0, nor with workers of an older build, which do not tell who they are', () => {
    const none = createLookAhead(0);
    done(none, 'a', 100);
    expect(none.extra(10)).toBe(0);
    const old = createLookAhead(0.25);
    for (let n = 0; n < 100; n += 1) old.note({ n: 'done' });
    expect(old.extra(10)).toBe(0);
  });
});
