import { expect, test } from 'vitest';
import { statementOf } from '../../../src/commands/run-sql.ts';
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
