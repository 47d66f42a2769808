import { RequestMalformedError } from '@a2a-js/sdk/errors';
import { expect, test } from 'vitest';
import { readSuiteRequest } from '../../../src/server/a2a/suite-request.ts';

const SUITES = ['ops', 'ops-smoke', '能耗'];
const read = (text: string, ...data: Parameters<typeof readSuiteRequest>[0][number]['data']) =>
  readSuiteRequest([{ text, data }], SUITES);

test.each([
  ['ops', 'ops'],
  ['Run ops, please.', 'ops'],
  ['run "ops-smoke"', 'ops-smoke'],
  ['运行 能耗。', '能耗'],
  ['devops', undefined],
  ['opsx ops_1', undefined],
  ['ops and ops-smoke', undefined],
  ['', undefined],
])('%j names %s', (text, suite) => {
  expect(read(text).suite).toBe(suite);
});

test('options are read by their names; later messages win', () => {
  expect(read('', { suite: 'ops', trials: 3, filter: 'tag=smoke', budget_usd: 2.5 })).toEqual({
    suite: 'ops',
    trials: 3,
    filter: ['tag=smoke'],
    budget_usd: 2.5,
  });
  const contents = [
    { text: 'ops', data: [{ trials: 3 }] },
    { text: 'no, ops-smoke', data: [] },
  ];
  expect(readSuiteRequest(contents, SUITES)).toEqual({ suite: 'ops-smoke', trials: 3 });
});

test.each([
  [{ trails: 3 }, /unknown key "trails" \(did you mean "trials"\?\)|unknown key "trails"/],
  [{ trials: 0 }, /trials/],
  [{ trials: '3' }, /trials/],
  [{ budget_usd: -1 }, /budget_usd/],
  [{ filter: [1] }, /filter/],
])('%j is refused by name', (data, text) => {
  expect(() => read('', data)).toThrow(RequestMalformedError);
  expect(() => read('', data)).toThrow(text);
});
