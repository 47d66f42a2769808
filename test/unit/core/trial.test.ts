import { expect, test } from 'vitest';
import type { Score } from '../../../src/core/score.ts';
import { failureReason } from '../../../src/core/trial.ts';

function score(parts: Partial<Score>): Score {
  const none = { scorer: 's', dimension: null, value: null, passed: null, details: null };
  return { ...none, reason: '', deciding: true, violation: false, ...parts };
}

test('the reason of a failed trial is that of what failed it, whatever was not scored before', () => {
  const unscored = score({ passed: null, reason: 'the judge gave no verdict' });
  const informative = score({ passed: false, reason: 'slow', deciding: false });
  const failed = score({ passed: false, reason: 'wrong order' });
  const breach = score({ passed: false, reason: 'a key in the answer', deciding: false, violation: true });
  expect(failureReason([informative, unscored, failed])).toBe('wrong order');
  expect(failureReason([failed, breach])).toBe('a key in the answer');
  expect(failureReason([informative, unscored])).toBe('the judge gave no verdict');
  expect(failureReason([informative])).toBe('no deciding score');
});
