import { describe, expect, test } from 'vitest';
import type { Expected } from '../../../src/core/case.ts';
import type { Trajectory } from '../../../src/core/trajectory.ts';
import { numbersIn } from '../../../src/scorers/outcome/number-in-answer.ts';
import { parsePath, valueAt } from '../../../src/scorers/outcome/path-check.ts';
import { scoreTrial } from '../../../src/scorers/index.ts';
import { evalCase, scoresOf, SUITE, trajectory } from './fixtures.ts';

const of = (expected: Expected, fields: Partial<Trajectory>): ReturnType<typeof scoresOf> =>
  scoresOf(expected, trajectory([], fields));
const passes = (expected: Expected, answer: string | null): boolean | null | undefined => {
  const scores = of(expected, { answer });
  return Object.values(scores).find(({ scorer }) => scorer !== 'task_completion')?.passed;
};

describe('answer checks', () => {
  test('answer_contains: share found, all must be there, the missing one is named', () => {
    const score = of({ answer_contains: ['v2.3.1', 'slow query'] }, { answer: 'Release v2.3.1 did it' })[
      'answer_contains'
    ];
    expect(score).toMatchObject({ value: 0.5, passed: false, deciding: true });
    expect(score?.reason).toContain('"slow query"');
    expect(passes({ answer_contains: ['DONE'] }, 'done')).toBe(false);
    expect(passes({ answer_contains: ['DONE'], ignore_case: true }, 'done')).toBe(true);
    expect(passes({ answer_contains: ['x'] }, null)).toBe(false);
  });

  test('D4: text is folded for comparing: NFC, width, spaces, zero-width, quotes', () => {
    expect(passes({ answer_contains: ['café'] }, 'cafe\u0301')).toBe(true);
    expect(passes({ answer_contains: ['88'] }, '订单８８')).toBe(true);
    expect(passes({ answer_contains: ['order 88'] }, 'order\u00a088')).toBe(true);
    expect(passes({ answer_contains: ['order'] }, 'or\u200bder')).toBe(true);
    expect(passes({ answer_contains: ["it's"] }, 'it’s')).toBe(true);
    expect(passes({ answer_contains: ['ガス'] }, 'ｶﾞｽ')).toBe(true);
    expect(passes({ answer_not_contains: ['secret'] }, 'ｓｅｃｒｅｔ')).toBe(false);
    expect(passes({ answer_contains: ['89'] }, '８８')).toBe(false);
  });

  test('D4: folding is for comparing alone: nothing of the trajectory or the case is changed', () => {
    const answer = 'cafe\u0301 \u201c８８\u201d\u00a0or\u200bder';
    const input = {
      evalCase: evalCase({ answer_contains: ['café "88" order'], answer_equals: '\u201c' }),
      trajectory: trajectory([{ tool: 'f', args: { ｘ: '８８\u200b' } }], { answer }),
      suite: SUITE,
      costUsd: null,
    };
    const before = structuredClone(input);
    const scores = scoreTrial(input);
    expect(scores.find(({ scorer }) => scorer === 'answer_contains')?.passed).toBe(true);
    expect(input).toEqual(before);
  });

  test('answer_not_contains, answer_equals, answer_matches', () => {
    expect(passes({ answer_not_contains: ['refunded'] }, 'not done')).toBe(true);
    expect(passes({ answer_not_contains: ['refunded'] }, 'refunded')).toBe(false);
    expect(passes({ answer_not_contains: ['refunded'] }, null)).toBe(true);
    expect(passes({ answer_equals: '42' }, ' 42\n')).toBe(true);
    expect(passes({ answer_equals: '42' }, '42!')).toBe(false);
    expect(passes({ answer_equals: '' }, null)).toBe(false);
    expect(passes({ answer_matches: ['^AB-[0-9]{3}$'] }, 'AB-123')).toBe(true);
    expect(passes({ answer_matches: ['AB-[0-9]{3}', 'nope'] }, 'AB-123')).toBe(false);
    expect(passes({ answer_matches: ['^caf\u00e9$'] }, 'cafe\u0301')).toBe(true);
    expect(of({ answer_matches: ['(?=x)'] }, { answer: 'x' })['answer_matches']).toMatchObject({
      value: null,
      passed: null,
    });
  });

  test('D10: answer_matches is linear on 50 kB', () => {
    const started = performance.now();
    expect(passes({ answer_matches: ['(a+)+$'] }, `${'a'.repeat(50_000)}!`)).toBe(false);
    expect(performance.now() - started).toBeLessThan(5_000);
  });

  test('answer_json: schema and paths, a fence around all of it allowed', () => {
    const expected: Expected = {
      answer_json: {
        schema: { type: 'object', required: ['items'] },
        equals: [
          { path: 'items[0].id', value: 7 },
          { path: 'total', value: { number: { value: 1, abs: 0.01 } } },
        ],
      },
    };
    expect(passes(expected, '{"items":[{"id":7}],"total":1.005}')).toBe(true);
    expect(passes(expected, '```json\n{"items":[{"id":7}],"total":1}\n```')).toBe(true);
    const wrong = of(expected, { answer: '{"items":[{"id":8}],"total":1}' })['answer_json'];
    expect(wrong?.value).toBeCloseTo(2 / 3, 12);
    expect(wrong?.reason).toContain('items[0].id: wanted 7, got 8');
    expect(passes(expected, 'Here: {"items":[]}')).toBe(false);
    expect(passes({ answer_json: {} }, '[1]')).toBe(true);
    expect(passes({ answer_json: {} }, 'NaN')).toBe(false);
  });

  test.each<[string, number[]]>([
    ['1523.5 kWh', [1523.5]],
    ['用电1,523.5千瓦时', [1523.5]],
    ['共１５２３．５', [1523.5]],
    ['-5 and 3-5, range 5-10', [-5, 3, 5, 5, 10]],
    ['TC-001 v2.3.1 x7', []],
    ['1,234,567 and 12,34', [1234567, 12, 34]],
    ['1.5e3; .5; 100%', [1500, 0.5, 100]],
    ['−3 °C', [-3]],
    ['-$40.50, −€7, $3-$5, US$9', [-40.5, -7, 3, 5, 9]],
    ['ü5 Ω-3 é7', []],
    ['$88.', [88]],
    ['2024-05-01', [2024, 5, 1]],
    ['1,30,619; 6,1,811; 1234,567; 1,234,', [1, 30619, 6, 1811, 1234, 567, 1, 234]],
    ['5e+63, 4e3+2', [5e63, 4000, 2]],
  ])('numbers in %j', (text, numbers) => {
    expect(numbersIn(text)).toEqual(numbers);
  });

  test.each(['123,', '1.1', '1e', '1,'])('numbers of an answer that repeats %j are found in linear time', (unit) => {
    const started = performance.now();
    numbersIn(unit.repeat(60_000));
    expect(performance.now() - started).toBeLessThan(5_000);
  });

  test('number: value within an absolute tolerance', () => {
    expect(passes({ number: { value: 368 } }, 'It is 368.')).toBe(true);
    expect(passes({ number: { value: 8734.6, tolerance: 0.5 } }, '均值为 8,735.1 kWh')).toBe(true);
    expect(passes({ number: { value: 8734.6, tolerance: 0.4 } }, '均值为 8,735.1 kWh')).toBe(false);
    expect(passes({ number: { value: 368 } }, '3680')).toBe(false);
    expect(passes({ number: { value: 5 } }, null)).toBe(false);
  });
});

describe('state and final status', () => {
  test('state: path = value in the end state; not scored when none was recorded', () => {
    const expected: Expected = { state: [{ path: 'orders.88.status', value: 'refunded' }] };
    expect(of(expected, { end_state: { orders: { '88': { status: 'refunded' } } } })['state']?.passed).toBe(true);
    const wrong = of(expected, { end_state: { orders: {} } })['state'];
    expect(wrong).toMatchObject({ value: 0, passed: false });
    expect(wrong?.reason).toContain('wanted "refunded", got (absent)');
    expect(of(expected, { end_state: null })['state']).toMatchObject({ value: null, passed: null });
    expect(of(expected, { end_state: null })['task_completion']).toMatchObject({ value: null, passed: null });
  });

  test('paths', () => {
    expect(parsePath('a.b[0]["c.d"].e')).toEqual(['a', 'b', '0', 'c.d', 'e']);
    expect(parsePath('$.a')).toEqual(['a']);
    expect(parsePath('a[')).toBeNull();
    expect(valueAt({ a: [{ b: 1 }] }, 'a.0.b')).toBe(1);
    expect(valueAt({}, 'constructor')).toBeUndefined();
    expect(valueAt([1], 'length')).toBeUndefined();
  });

  test('final_status', () => {
    const expected: Expected = { final_status: 'ESCALATED' };
    expect(of(expected, { final_status: 'ESCALATED' })['final_status']?.passed).toBe(true);
    const wrong = of(expected, { final_status: 'MAX_ITERATIONS', final_status_reason: 'cap of 20 turns' })[
      'final_status'
    ];
    expect(wrong?.reason).toContain('wanted final status ESCALATED, got MAX_ITERATIONS (cap of 20 turns)');
  });
});

describe('task completion', () => {
  const expected: Expected = { answer_contains: ['88', 'refunded'], final_status: 'COMPLETED' };
  test.each<[string, Partial<Trajectory>, number]>([
    ['success', { answer: '88 refunded' }, 1],
    ['partial', { answer: '88' }, 0.5],
    ['failure', { answer: 'no', final_status: 'FAILED' }, 0],
  ])('%s', (word, fields, value) => {
    const score = of(expected, fields)['task_completion'];
    expect(score?.value).toBe(value);
    expect(score?.passed).toBe(value === 1);
    expect(score?.reason).toMatch(new RegExp(`^${word}`));
  });

  test('an agent that claims success is not believed', () => {
    expect(
      of({ state: [{ path: 'done', value: true }] }, { answer: 'Success!', end_state: {} })['task_completion']?.value,
    ).toBe(0);
  });
});
