import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { box, displayWidth, fittedTable, padEnd, padStart, table, truncate, wrap } from '../../../src/report/align.ts';

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

  test('a number stays with its unit', () => {
    expect(wrap('rates: 50.0 %, 60.0 %, 70.0 %', 13)).toEqual(['rates:', '50.0 %,', '60.0 %,', '70.0 %']);
    expect(wrap('took 12 s (p50 9 ms)', 12)).toEqual(['took 12 s', '(p50 9 ms)']);
    expect(wrap('a % b', 3)).toEqual(['a %', 'b']);
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

  describe('a table that must fit', () => {
    const columns = [
      { title: 'id' },
      { title: 'suite', min: 4, drop: 2 },
      { title: 'created', drop: 1 },
      { title: 'verdict', min: 8 },
    ];
    const rows = [
      ['id-1', 'energy', '2026-03-18', 'Passed: 9 gates held'],
      ['id-2', '能源', '2026-03-19', 'Failed: 1 of 9 gates'],
    ];
    const heads = (width: number): string[] => (fittedTable(columns, rows, width)[0] ?? '').split(/ +/);

    test('gives way at its end first, then leaves columns out in their order', () => {
      expect(fittedTable(columns, rows, Infinity)).toEqual(table(columns, rows));
      expect(fittedTable(columns, rows, 40)[1]).toBe('id-1  energy  2026-03-18  Passed: 9 gat…');
      expect(heads(34)).toEqual(['id', 'suite', 'created', 'verdict']);
      expect(heads(30)).toEqual(['id', 'suite', 'verdict']);
      expect(heads(15)).toEqual(['id', 'verdict']);
    });

    test('never wider than asked, as long as what stays has room', () => {
      for (let width = 14; width < 60; width += 1) {
        for (const line of fittedTable(columns, rows, width)) expect(displayWidth(line)).toBeLessThanOrEqual(width);
      }
      expect(fittedTable(columns, rows, 3)[1]).toContain('id-1');
    });
  });
});
