import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { displayWidth } from '../../../src/report/align.ts';
import { wrapReason } from '../../../src/report/wrong-step.ts';

const LEAD = 'ops-refund-017  failed, 0 of 3 trials pass: ';
const LONG =
  'unordered: expected call 3 of 5 (index 2), made as call 4 `get_maintenance_schedule`: argument `building_identifier`: wanted "building-a-north-wing", got "building-b"';

test('a wrong step too long for its lines still says what was wanted and what was got', () => {
  const lines = wrapReason(LEAD, LONG, 72, 2);
  expect(lines).toHaveLength(2);
  expect(lines.join(' ')).toMatch(
    /^ops-refund-017 {2}failed, 0 of 3 trials pass: ….*wanted "building-a.*, got "building-b"$/,
  );
});

test('what leads up to the wrong values is cut between words', () => {
  for (let width = 66; width <= 90; width++) {
    const text = wrapReason(LEAD, LONG, width, 2).join(' ').slice(LEAD.length);
    const [, kept = ''] = /^\s*…(.*?)wanted /.exec(text) ?? [];
    expect(kept).not.toBe('');
    expect(LONG).toContain(` ${kept.trimStart()}`);
  }
});

test('what leads up to the wrong values never begins inside brackets', () => {
  for (let width = 66; width <= 120; width++) {
    const [, kept = ''] = /…(.*?)wanted /.exec(wrapReason(LEAD, LONG, width, 2).join(' ')) ?? [];
    expect(kept).not.toMatch(/^ *[^ (]*\)/);
  }
});

test('what fits stays whole; another reason is cut at its end', () => {
  expect(wrapReason('', 'wanted 7, got 30', 72, 2)).toEqual(['wanted 7, got 30']);
  const prose = 'word '.repeat(60).trim();
  expect(wrapReason('a: ', prose, 40, 2).at(-1)).toMatch(/…$/);
});

const value = fc.oneof(fc.string({ minLength: 1, maxLength: 150 }), fc.stringMatching(/^[数据查询A栋，]{1,80}$/));

test('whatever the names and values: the lines fit, and both values begin on them', () => {
  fc.assert(
    fc.property(value, value, value, fc.integer({ min: 64, max: 116 }), (head, wanted, got, width) => {
      fc.pre(!head.includes('wanted '));
      const reason = `in_order: expected call 1 of 9 (index 0) \`${head}\`: wanted ${JSON.stringify(wanted)}, got ${JSON.stringify(got)}`;
      const lines = wrapReason(LEAD, reason, width, 2);
      expect(lines.length).toBeLessThanOrEqual(2);
      for (const line of lines) expect(displayWidth(line)).toBeLessThanOrEqual(width);
      const text = lines.join(' ');
      fc.pre(!wanted.includes(', got '));
      expect(text).toContain('wanted "');
      expect(text).toMatch(/, got +"/);
    }),
  );
});
