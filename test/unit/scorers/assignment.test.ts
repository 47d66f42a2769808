import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { assign } from '../../../src/scorers/tool-calls/assignment.ts';
import { firstLongestCommonSubsequence } from '../../../src/scorers/tool-calls/lcs.ts';

/** Every one-to-one assignment of greatest size. */
function* everyAssignment(rows: number, columns: number): Generator<(number | null)[]> {
  const skips = Math.max(0, rows - columns);
  function* extend(done: (number | null)[], left: number): Generator<(number | null)[]> {
    if (done.length === rows) {
      yield done;
      return;
    }
    for (let column = 0; column < columns; column += 1) {
      if (!done.includes(column)) yield* extend([...done, column], left);
    }
    if (left > 0) yield* extend([...done, null], left - 1);
  }
  yield* extend([], skips);
}

function bestByHand(gain: number[][], columns: number): (number | null)[] {
  const total = (columnOf: (number | null)[]): number =>
    columnOf.reduce<number>((sum, column, row) => sum + (column === null ? 0 : gain[row]![column]!), 0);
  const smaller = (a: (number | null)[], b: (number | null)[]): boolean => {
    const at = a.findIndex((column, row) => column !== b[row]);
    return at >= 0 && (a[at] ?? Infinity) < (b[at] ?? Infinity);
  };
  let best: (number | null)[] | null = null;
  for (const way of everyAssignment(gain.length, columns)) {
    if (best === null || total(way) > total(best) || (total(way) === total(best) && smaller(way, best))) best = way;
  }
  return best ?? [];
}

test('assign finds what trying every assignment finds, ties included', () => {
  const table = fc
    .tuple(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 0, max: 5 }), fc.integer({ min: 0, max: 3 }))
    .chain(([rows, columns, most]) =>
      fc.tuple(
        fc.constant(columns),
        fc.array(fc.array(fc.integer({ min: 0, max: most }), { minLength: columns, maxLength: columns }), {
          minLength: rows,
          maxLength: rows,
        }),
      ),
    );
  fc.assert(
    fc.property(table, ([columns, gain]) => {
      expect(assign(gain.length, columns, (row, column) => gain[row]![column]!)).toEqual(bestByHand(gain, columns));
    }),
    { numRuns: 1500 },
  );
});

test('assign stays quick with a few rows and very many columns', () => {
  const started = performance.now();
  const columnOf = assign(3, 20_000, (row, column) => (column === 19_999 - row ? 1 : 0));
  expect(columnOf).toEqual([19_999, 19_998, 19_997]);
  expect(performance.now() - started).toBeLessThan(2_000);
});

test('the lexicographically first longest common subsequence is the first among all the longest', () => {
  function* every(a: string[], b: string[], i = 0, j = 0): Generator<[number, number][]> {
    yield [];
    for (let x = i; x < a.length; x += 1) {
      for (let y = j; y < b.length; y += 1) {
        if (a[x] === b[y]) for (const rest of every(a, b, x + 1, y + 1)) yield [[x, y], ...rest];
      }
    }
  }
  const names = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 6 });
  fc.assert(
    fc.property(names, names, (a, b) => {
      const all = [...every(a, b)];
      const longest = Math.max(...all.map((pairs) => pairs.length));
      const first = all
        .filter((pairs) => pairs.length === longest)
        .map((pairs) => pairs.flat())
        .sort((x, y) => {
          const at = x.findIndex((value, place) => value !== y[place]);
          return at < 0 ? 0 : x[at]! - y[at]!;
        })[0];
      expect(firstLongestCommonSubsequence(a, b).flat()).toEqual(first);
    }),
    { numRuns: 200 },
  );
});
