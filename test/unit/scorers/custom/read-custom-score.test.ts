import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Json } from '../../../../src/core/json.ts';
import { readCustomScore } from '../../../../src/scorers/custom/read-custom-score.ts';

const read = (returned: Json) => readCustomScore({ name: 'mine' }, returned);

describe('readCustomScore', () => {
  test('a valid score is taken as it is', () => {
    expect(read({ value: 0.5, passed: false, reason: 'half', details: { a: [1] } })).toEqual({
      scorer: 'mine',
      dimension: null,
      value: 0.5,
      passed: false,
      reason: 'half',
      details: { a: [1] },
    });
    expect(read({ value: 1, reason: 'r' })).toMatchObject({ value: 1, passed: null, details: null });
    expect(read({ value: null, reason: 'does not apply' })).toMatchObject({ value: null, passed: null });
  });

  test.each<[string, Json]>([
    ['null', null],
    ['value true', { value: true, passed: true, reason: 'r' }],
    ['value "(NaN)"', { value: '(NaN)', passed: true, reason: 'r' }],
    ['value 1.1', { value: 1.1, passed: true, reason: 'r' }],
    ['value -0.1', { value: -0.1, passed: true, reason: 'r' }],
    ['no value', { passed: true, reason: 'r' }],
    ['passed "yes"', { value: 1, passed: 'yes', reason: 'r' }],
    ['passed true without a value', { value: null, passed: true, reason: 'r' }],
    ['no reason', { value: 1, passed: true }],
    ['no reason', { value: 1, passed: true, reason: ' ' }],
    ['details [1]', { value: 1, passed: true, reason: 'r', details: [1] }],
    ['details of', { value: 1, passed: true, reason: 'r', details: { text: 'x'.repeat(70_000) } }],
    ['the unknown key "score"', { score: 1, value: 1, passed: true, reason: 'r' }],
  ])('%s is a null score that says so', (cause, returned) => {
    const score = read(returned);
    expect(score).toMatchObject({ value: null, passed: null });
    expect(score.reason).toContain(`not scored: it returned ${cause}`);
  });

  test('law: whatever is returned, a pass has a value from 0 to 1, and nothing throws', () => {
    const key = fc.constantFrom('value', 'passed', 'reason', 'details', 'x');
    const value = fc.oneof(fc.jsonValue(), fc.boolean(), fc.double(), fc.constant('r'));
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), fc.dictionary(key, value)), (returned) => {
        const { value: got, passed } = read(returned as Json);
        if (passed !== true) return got === null || (got >= 0 && got <= 1);
        return got !== null && got >= 0 && got <= 1;
      }),
    );
  });
});
