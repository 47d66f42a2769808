import { describe, expect, test } from 'vitest';
import { createFailingNotes } from '../../../src/commands/run/failing-notes.ts';

const limited = { kind: 'rate_limit', trials: 2, message: 'slow down' };
const timeout = { kind: 'timeout', trials: 1, message: 'no answer in 60 s' };
const LIMITED = '2 trials tried again after rate_limit: slow down';

describe('why trials take long', () => {
  test('a kind is said when it is first seen, another one when that is', () => {
    const notes = createFailingNotes();
    expect(notes([], 0, 0)).toEqual([]);
    expect(notes([limited], 0, 100)).toEqual([LIMITED]);
    expect(notes([limited, timeout], 0, 350)).toEqual(['1 trial tried again after timeout: no answer in 60 s']);
  });

  test('again after 30 s in which nothing ended, and not before', () => {
    const notes = createFailingNotes();
    notes([limited], 5, 0);
    expect(notes([limited], 5, 29_999)).toEqual([]);
    expect(notes([limited], 5, 30_000)).toEqual([LIMITED]);
    expect(notes([limited], 5, 30_250)).toEqual([]);
  });

  test('while trials end it is not said again; once they no longer do, it is', () => {
    const notes = createFailingNotes();
    notes([limited], 0, 0);
    for (let second = 1; second <= 120; second += 1) expect(notes([limited], second, second * 1_000)).toEqual([]);
    expect(notes([limited], 120, 150_000)).toEqual([LIMITED]);
  });
});
