import { assign } from './assignment.ts';
import { checkedArgs, comparesExactly, fitTable } from './call-comparer.ts';
import type { Calls } from './call-comparer.ts';
import { firstLongestCommonSubsequence } from './lcs.ts';

/** Expected calls with the made call each is matched to (or null), and how many of its arguments match there. */
export interface Pairing {
  madeOf: (number | null)[];
  /** Matching expected arguments of each expected call; 0 when it is not matched or its arguments are not checked. */
  matchingArgs: number[];
}

/**
 * Matches expected and made calls one to one within equal tool names: as many as possible; then most matching expected
 * arguments; then most pairs on the lexicographically first longest common subsequence of names; then the smallest made
 * positions, unmatched last. Malformed calls match nothing.
 */
export function pairCalls(calls: Calls): Pairing {
  const { expected, made, comparer } = calls;
  const expectedNames = expected.map((call) => comparer.nameOf(call.tool));
  const madeNames = made.map((call, at) =>
    call.args === null || call.malformed !== null ? `\u0000${at}` : comparer.nameOf(call.tool),
  );
  const madeByName = positionsByName(madeNames);
  const expectedByName = positionsByName(expectedNames);
  const contested = [...expectedByName].some(([name, at]) => at.length > 1 || (madeByName.get(name)?.length ?? 0) > 1);
  const onSubsequence = contested ? subsequencePlaces(expectedNames, madeNames) : new Map<number, number>();
  const pairing: Pairing = { madeOf: expected.map(() => null), matchingArgs: expected.map(() => 0) };
  for (const [name, rows] of expectedByName) {
    const columns = madeByName.get(name);
    if (columns !== undefined) pairGroup(calls, { rows, columns }, onSubsequence, pairing);
  }
  return pairing;
}

function positionsByName(names: readonly string[]): Map<string, number[]> {
  const found = new Map<string, number[]>();
  names.forEach((name, at) => {
    const positions = found.get(name);
    if (positions === undefined) found.set(name, [at]);
    else positions.push(at);
  });
  return found;
}

function subsequencePlaces(expected: string[], made: string[]): Map<number, number> {
  return new Map(firstLongestCommonSubsequence(expected, made));
}

function pairGroup(
  calls: Calls,
  group: { rows: number[]; columns: number[] },
  onSubsequence: ReadonlyMap<number, number>,
  pairing: Pairing,
): void {
  const { rows, columns } = group;
  const matching = rows.map((i) => columns.map((j) => countMatchingArgs(calls, i, j)));
  // One more matching argument outweighs every pair that could lie on the subsequence.
  const argument = Math.min(rows.length, columns.length) + 1;
  const columnOf = assign(rows.length, columns.length, (row, column) => {
    const bonus = onSubsequence.get(rows[row] ?? -1) === columns[column] ? 1 : 0;
    return (matching[row]?.[column] ?? 0) * argument + bonus;
  });
  columnOf.forEach((column, row) => {
    const i = rows[row];
    if (column === null || i === undefined) return;
    pairing.madeOf[i] = columns[column] ?? null;
    pairing.matchingArgs[i] = matching[row]?.[column] ?? 0;
  });
}

/** How many expected arguments of call `i` made call `j` has right. */
function countMatchingArgs(calls: Calls, i: number, j: number): number {
  const expected = calls.expected[i];
  const made = calls.made[j];
  const wanted = expected === undefined ? null : checkedArgs(calls, expected);
  if (expected === undefined || wanted === null || made === undefined || made.args === null) return 0;
  const keys = Object.keys(wanted);
  // Arguments that are exactly the expected ones have each of them right; the match mode asks for the same comparison.
  if (comparesExactly(calls, expected.tool) && fitTable(calls)(i, j)) return keys.length;
  let right = 0;
  for (const key of keys) {
    if (calls.comparer.argument(expected.tool, key, wanted, made.args) === null) right += 1;
  }
  return right;
}
