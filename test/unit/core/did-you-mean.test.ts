import { expect, test } from 'vitest';
import { didYouMean, nearest } from '../../../src/core/did-you-mean.ts';

test.each([
  ['must_cal', 'must_call'],
  ['mustCall', 'must_call'],
  ['stirct', 'strict'],
  ['catgory', 'category'],
  ['zzzzzz', null],
  ['x', null],
])('%s → %s', (word, expected) => {
  expect(nearest(word, ['must_call', 'strict', 'category', 'answer_contains'])).toBe(expected);
});

test('says nothing when nothing is near', () => {
  expect(didYouMean('banana', ['must_call'])).toBe('');
  expect(didYouMean('mustcall', ['must_call'])).toBe(' (did you mean "must_call"?)');
});
