import { expect, test } from 'vitest';
import { parseJsonSource } from '../../../src/datasets/readers/read-json.ts';
import type { Path } from '../../../src/datasets/readers/source.ts';

const placeOf = (text: string, path: Path, target?: 'key' | 'value'): [number, number] => {
  const source = parseJsonSource(text, 'f.jsonl', () => undefined, 7);
  if (source === null) throw new Error(`not JSON: ${text}`);
  const { line, column } = source.place(path, target);
  return [line, column];
};

test('the place of a member is the same whether it comes first or not', () => {
  expect(placeOf('{"id": "a", "input": "x"}', ['id'])).toEqual([7, 8]);
  expect(placeOf('{"id": "a", "input": "x"}', ['id'], 'key')).toEqual([7, 2]);
  expect(placeOf(' { "id" : "a"}', ['id'])).toEqual([7, 11]);
  expect(placeOf('{"input": "x", "id": "a"}', ['id'])).toEqual([7, 22]);
  expect(placeOf('{"input": "x", "id": "a"}', ['id'], 'key')).toEqual([7, 16]);
});

test('line ends, escapes and lists before a member are read, not guessed', () => {
  expect(placeOf('{\n  "id": "a"}', ['id'])).toEqual([8, 9]);
  expect(placeOf('{"\\u0069d": "a"}', ['id'])).toEqual([7, 13]);
  expect(placeOf('[{"id": "a"}]', [0, 'id'])).toEqual([7, 9]);
  // Nothing there: the place of the whole.
  expect(placeOf('{"id": "a"}', ['input'])).toEqual([7, 1]);
});
