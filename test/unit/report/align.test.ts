import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { box, displayWidth, padEnd, padStart, table, truncate, wrap } from '../../../src/report/align.ts';

const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 60 }),
  fc
    .array(fc.constantFrom('数', '据', '查询 ', 'a', 'word ', 'A栋办公楼', '，', '👨‍👩‍👧', ' '), { maxLength: 30 })
    .map((parts) => parts.join('')),
);

describe('alignment with full-width characters', () => {
  test('pads and cuts by columns, not by characters', () => {
    expect(padEnd('数据', 6)).toBe('数据  ');
    expect(padStart('数据', 6)).toBe('  数据');
    expect(truncate('数据查询', 5)).toBe('数据…');
    expect(truncate('数据查询', 8)).toBe('数据查询');
    expect(truncate('数据查询', 4)).toBe('数…');
  });

  test('columns line up whatever is in them', () => {
    const lines = table(
      [{ title: '名' }, { title: 'n', align: 'right' }, { title: 'end' }],
      [
        ['数据查询', '7', '|'],
        ['ops', '1,234', '|'],
      ],
    );
    expect(lines).toEqual(['名            n  end', '数据查询      7  |', 'ops       1,234  |']);
  });

  test('every line of a box is as wide as asked', () => {
    for (const line of box('汇总', ['数据查询 91.7 %', 'x'.repeat(200), ''], 40)) expect(displayWidth(line)).toBe(40);
  });

  test('wrapped lines fit, and nothing is lost but spaces', () => {
    fc.assert(
      fc.property(text, fc.integer({ min: 8, max: 40 }), (value, width) => {
        const lines = wrap(value, width);
        for (const line of lines) expect(displayWidth(line)).toBeLessThanOrEqual(width);
        expect(lines.join('').replace(/ /g, '')).toBe(value.replace(/ /g, ''));
      }),
      { numRuns: 500 },
    );
  });

  test('a limit of lines ends in …', () => {
    expect(wrap('one two three four five', 9, 2)).toEqual(['one two', 'three …']);
    expect(wrap('one two', 9, 1)).toEqual(['one two']);
    expect(wrap('', 9)).toEqual([]);
  });

  test('truncated text fits', () => {
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 30 }), (value, width) => {
        expect(displayWidth(truncate(value, width))).toBeLessThanOrEqual(width);
      }),
      { numRuns: 500 },
    );
  });
});
