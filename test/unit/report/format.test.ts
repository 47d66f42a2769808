import { expect, test } from 'vitest';
import { cleanText } from '../../../src/report/clean.ts';
import {
  formatChange,
  formatChangeInterval,
  formatCount,
  formatDuration,
  formatInterval,
  formatMetric,
  formatMoney,
  formatPercent,
  some,
} from '../../../src/report/format.ts';

test('a rate that is not all is never shown as all, and one that is not none never as none', () => {
  expect([1, 0.9999, 0.917, 0.0001, 0, null].map(formatPercent)).toEqual([
    '100.0 %',
    '99.9 %',
    '91.7 %',
    '0.1 %',
    '0.0 %',
    '–',
  ]);
});

test('counts, money, durations', () => {
  expect([-12.3, -1234].map(formatCount)).toEqual(['−12.3', '−1,234']);
  expect([0, 7, 12.25, 999.6, 1234567, null].map(formatCount)).toEqual(['0', '7', '12.3', '1,000', '1,234,567', '–']);
  expect([null, 0, 0.00123, 1.5, 1234.56].map(formatMoney)).toEqual(['unknown', '$0', '$0.0012', '$1.50', '$1235']);
  expect([null, 850, 999.7, 12_345, 245_000, 7_620_000].map(formatDuration)).toEqual([
    '–',
    '850 ms',
    '1.0 s',
    '12.3 s',
    '4 min 05 s',
    '2 h 07 min',
  ]);
  expect(formatMetric('mean_latency_ms', 1240)).toBe('1.2 s');
});

test('changes: points for rates, plain for scores, times for ratios; none without a sign', () => {
  expect(formatChange('completion_rate', -0.083, 'difference')).toBe('−8.3');
  expect(formatChange('tool_score', 0.12, 'difference')).toBe('+0.120');
  expect(formatChange('tool_score', -1e-9, 'difference')).toBe('0.000');
  expect(formatChange('mean_tokens', 1.31, 'ratio')).toBe('×1.31');
});

test('an interval of cases that all have the same value is no claim to be sure', () => {
  const interval = (low: number, high: number): string => formatInterval({ metric: 'answer_quality', low, high });
  expect(interval(0.943, 0.9430000000000001)).toBe('no spread');
  expect(interval(0.9428, 0.9491)).toBe('0.943 to 0.949');
  expect(formatInterval({ metric: 'mean_tokens', low: 1217, high: 1217 })).toBe('no spread');
});

test('the interval of a change shows where its ends differ', () => {
  const interval = (metric: string, low: number | null, high: number | null, kind: 'difference' | 'ratio'): string =>
    formatChangeInterval({ metric, low, high, kind });
  expect(interval('tool_score', -0.1, 0.031, 'difference')).toBe('−0.100 to 0.031');
  expect(interval('tool_score', 0.94291, 0.94314, 'difference')).toBe('+0.9429 to 0.9431');
  expect(interval('completion_rate', 0.0499, 0.0501, 'difference')).toBe('+4.99 to 5.01');
  expect(interval('mean_tokens', 1.00991, 1.00994, 'ratio')).toBe('×1.01 to ×1.01');
  expect(interval('mean_tokens', 1.0099, 1.0102, 'ratio')).toBe('×1.0099 to ×1.0102');
  expect(interval('mean_tokens', 0.9998, 1.0001, 'ratio')).toBe('×1.00 to ×1.00');
  expect(interval('tool_score', -0.0001, 0.0003, 'difference')).toBe('0.000 to 0.000');
  expect(interval('tool_score', null, null, 'difference')).toBe('–');
});

test('lists are cut and counted', () => {
  expect(some(['a', 'b', 'c'], 2)).toBe('a, b and 1 more');
  expect(some(['a'], 2, 1500)).toBe('a and 1,499 more');
});

test('text of others cannot move the cursor, reorder a line, or carry a key', () => {
  expect(cleanText('a\u001b[31mred\u001b[0m\r\n\tb\u202eevil\u0000')).toBe('a [31mred [0m b evil');
  const key = `sk-proj-${'A'.repeat(24)}`;
  expect(cleanText(`the key ${key} leaked`)).toBe('the key sk-p*** leaked');
  expect(cleanText('-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY----- x')).toBe('----*** x');
  expect(cleanText('\ud800x')).toBe('\ufffdx');
  expect(cleanText('x'.repeat(5000))).toHaveLength(2001);
  expect(cleanText(`${'x'.repeat(1999)}👍👍`).endsWith('x\ufffd…')).toBe(true);
});
