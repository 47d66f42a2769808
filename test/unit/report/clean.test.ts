import { expect, test } from 'vitest';
import { suiteSchema } from '../../../src/core/suite.schema.ts';
import { cleanLines } from '../../../src/report/clean.ts';

test('a message keeps its lines and letters; what moves a cursor or turns a line around is a space', () => {
  expect(cleanLines('a\n\tb 异常 👩‍👩‍👧\u001b[2J\r\u202ec\u009b')).toBe('a\n\tb 异常 👩‍👩‍👧 [2J c ');
});

test('the name of a suite takes any letters, but no control or direction characters', () => {
  const named = (name: string): boolean =>
    suiteSchema.safeParse({ name, datasets: ['a.yaml'], agent: { type: 'openai', model: 'm' } }).success;
  for (const name of ['orders', '异常处理 🎉', 'it\'s "x"', '👩‍👩‍👧', 'עברית']) expect(named(name)).toBe(true);
  for (const name of ['', 'a\nb', 'a\u001b[2J', 'a\u0007', 'a\u202eb', 'a\u009bb']) expect(named(name)).toBe(false);
});
