import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseRetryAfter, parseShouldRetry } from '../../../src/agents/openai/retry-after.ts';

const NOW = Date.UTC(2026, 10, 29, 12, 0, 0);

describe('parseRetryAfter', () => {
  test.each([
    ['seconds', { 'retry-after': '2' }, 2_000],
    ['HTTP date 2 s ahead', { 'retry-after': new Date(NOW + 2_000).toUTCString() }, 2_000],
    ['milliseconds', { 'retry-after-ms': '500' }, 500],
    ['milliseconds win', { 'retry-after-ms': '500', 'retry-after': '9' }, 500],
    ['an hour, left to the caller to cap', { 'retry-after': '3600' }, 3_600_000],
    ['negative', { 'retry-after': '-1' }, null],
    ['a word', { 'retry-after': 'soon' }, null],
    ['broken milliseconds fall back to seconds', { 'retry-after-ms': 'x', 'retry-after': '3' }, 3_000],
    ['fraction', { 'retry-after': '0.25' }, 250],
    ['zero', { 'retry-after': '0' }, null],
    ['past date', { 'retry-after': new Date(NOW - 60_000).toUTCString() }, null],
    ['a year that only looks like a date', { 'retry-after': '2027' }, 2_027_000],
    ['absent', {}, null],
  ])('R6: %s', (_name, headers, expected) => {
    expect(parseRetryAfter(new Headers(headers as Record<string, string>), NOW)).toBe(expected);
  });

  test('R6: whatever the header says, the wait is null or a positive finite number', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const wait = parseRetryAfter({ get: (name) => (name === 'retry-after' ? text : null) }, NOW);
        return wait === null || (Number.isFinite(wait) && wait > 0);
      }),
    );
  });
});

test.each([
  ['true', true],
  ['False', false],
  ['maybe', null],
])('x-should-retry: %s', (text, expected) => {
  expect(parseShouldRetry(new Headers({ 'x-should-retry': text }))).toBe(expected);
});
