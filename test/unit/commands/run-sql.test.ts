import { expect, test } from 'vitest';
import { rowsText, statementOf } from '../../../src/commands/results/run-sql.ts';
import { NAMED_QUERIES } from '../../../src/db/named-queries.ts';

test('a name gives its query, a statement itself, a wrong word the names', () => {
  expect(statementOf('trend')).toBe(NAMED_QUERIES.find((one) => one.name === 'trend')?.sql);
  expect(statementOf('select 1')).toBe('select 1');
  expect(() => statementOf('trnd')).toThrow('did you mean "trend"?');
  expect(() => statementOf('zzzzzz')).toThrow('There is no named query "zzzzzz".');
});

test('names are unique and single words', () => {
  const names = NAMED_QUERIES.map((one) => one.name);
  expect(new Set(names).size).toBe(names.length);
  for (const name of names) expect(name).toMatch(/^[a-z]+$/);
});

test('numbers are rounded to 6 significant digits, whole ones and texts are not', () => {
  const row = [0.1 + 0.2, 1234567, 1234567.8, 0.00012345678, -0, null, '0.30000000000000004', Number.NaN];
  const [, line] = rowsText(
    { columns: ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'], rows: [row], more: false },
    Infinity,
  ).split('\n');
  expect(line?.split(/ +/)).toEqual(['0.3', '1234567', '1234568', '0.000123457', '0', '0.30000000000000004', 'NaN']);
});

test('what is wider than the terminal is a block of lines a row', () => {
  const result = {
    columns: ['id', 'verdict'],
    rows: [
      ['ops-1', 'Passed: 9 gates held'],
      ['ops-2', null],
    ],
    more: false,
  };
  expect(rowsText(result, 80)).toBe('id     verdict\nops-1  Passed: 9 gates held\nops-2\n(2 rows)\n');
  expect(rowsText(result, 20)).toBe(
    '── 1 ───────────────\nid       ops-1\nverdict  Passed: 9 gates h…\n── 2 ───────────────\nid       ops-2\nverdict\n(2 rows)\n',
  );
  expect(rowsText({ ...result, rows: [['ops-1', 'x']] }, 80)).toContain('(1 row)');
});
