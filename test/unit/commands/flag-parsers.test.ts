import fc from 'fast-check';
import { expect, test } from 'vitest';
import { collect, dollars, duration, listOf, timeZone, whole } from '../../../src/commands/flag-parsers.ts';

test('whole numbers from a bound', () => {
  fc.assert(fc.property(fc.integer({ min: 1, max: 1e9 }), (n) => whole(1)(String(n)) === n));
  for (const wrong of ['0', '-1', '1.5', '1e3', '', ' 1', 'x', '0x10', '99999999999999999999']) {
    expect(() => whole(1)(wrong), wrong).toThrow('Expected a whole number of at least 1.');
  }
});

test('dollars above 0', () => {
  expect(dollars('2.50')).toBe(2.5);
  for (const wrong of ['0', '-1', '', ' ', 'x', 'Infinity', 'NaN']) expect(() => dollars(wrong), wrong).toThrow('2.50');
});

test('durations in milliseconds', () => {
  expect(['90s', '5m', '1h', '2d'].map(duration)).toEqual([90_000, 300_000, 3_600_000, 172_800_000]);
  for (const wrong of ['5', 'm', '5 m', '-5m', '1.5h', '5ms', '']) expect(() => duration(wrong), wrong).toThrow('90s');
});

test('time zones of the IANA database', () => {
  expect(timeZone('Asia/Shanghai')).toBe('Asia/Shanghai');
  expect(() => timeZone('Mars/Olympus')).toThrow('Asia/Shanghai');
});

test('lists of known words, each once', () => {
  const parse = listOf(['text', 'json'] as const);
  expect(parse('json, text,json')).toEqual(['json', 'text']);
  for (const wrong of ['', 'text,', 'pdf']) expect(() => parse(wrong), wrong).toThrow('text, json');
});

test('repeated options are collected in order', () => {
  expect(collect('b', collect('a'))).toEqual(['a', 'b']);
});
