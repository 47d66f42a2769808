import type { ArgsMode, ExpectedCall } from '../../core/case.ts';
import type { JsonObject } from '../../core/json.ts';
import type { ToolCall } from '../../core/trajectory.ts';
import { ownValue } from '../values/equality.ts';
import { compareArgs, compareValue } from './compare-args.ts';
import type { Mismatch } from './compare-args.ts';

/** How an expected and a made call are compared; the profile chooses one. */
export interface CallComparer {
  /** The name under which tools are equal. */
  nameOf(tool: string): string;
  /** The first difference between the arguments, or null. */
  args(tool: string, wanted: JsonObject, made: JsonObject, mode: ArgsMode): Mismatch | null;
  /** The difference in one expected argument, or null; for credit by share of matching arguments. */
  argument(tool: string, key: string, wanted: JsonObject, made: JsonObject): Mismatch | null;
}

/** Equality by value, matchers at every depth. */
export const STRICT_COMPARER: CallComparer = {
  nameOf: (tool) => tool,
  args: (_tool, wanted, made, mode) => compareArgs(wanted, made, mode),
  argument: (_tool, key, wanted, made) => compareValue(wanted[key] ?? null, ownValue(made, key), 'exact', key),
};

/** Argument modes of a case: one for all tools, or by tool; default exact. */
function argsModeOf(args: ArgsMode | Record<string, ArgsMode> | undefined, tool: string): ArgsMode {
  if (args === undefined) return 'exact';
  if (typeof args === 'string') return args;
  return Object.hasOwn(args, tool) ? (args[tool] ?? 'exact') : 'exact';
}

/** The lists a comparison is about. Malformed calls stay in `made`: they count, and match nothing. */
export interface Calls {
  expected: readonly ExpectedCall[];
  made: readonly ToolCall[];
  args: ArgsMode | Record<string, ArgsMode> | undefined;
  comparer: CallComparer;
}

/** Why expected call `i` and made call `j` differ; null when they match in name and, under the case's mode, in arguments. */
export function callMismatch(calls: Calls, i: number, j: number): Mismatch | null {
  const expected = calls.expected[i];
  const made = calls.made[j];
  if (expected === undefined || made === undefined) return { key: '', wanted: 'a call', got: 'none' };
  if (made.args === null || made.malformed !== null) {
    return { key: '', wanted: 'readable arguments', got: `a malformed call (${made.malformed ?? 'no arguments'})` };
  }
  const { comparer } = calls;
  if (comparer.nameOf(expected.tool) !== comparer.nameOf(made.tool)) {
    return { key: '', wanted: `tool ${expected.tool}`, got: `tool ${made.tool}` };
  }
  if (expected.args === null) return null;
  return comparer.args(expected.tool, expected.args, made.args, argsModeOf(calls.args, expected.tool));
}

const tables = new WeakMap<Calls, (i: number, j: number) => boolean>();
const UNKNOWN = 0;
const FITS = 1;
const DIFFERS = 2;

/** {@link callMismatch} as a yes or no; each pair is compared once, whoever asks. */
export function fitTable(calls: Calls): (i: number, j: number) => boolean {
  const table = tables.get(calls);
  if (table !== undefined) return table;
  const { comparer } = calls;
  const width = calls.made.length;
  const expectedNames = calls.expected.map((call) => comparer.nameOf(call.tool));
  const madeNames = calls.made.map((call) => comparer.nameOf(call.tool));
  const known = new Uint8Array(calls.expected.length * width);
  const fits = (i: number, j: number): boolean => {
    if (expectedNames[i] !== madeNames[j]) return false;
    const at = i * width + j;
    if (known[at] === UNKNOWN) known[at] = callMismatch(calls, i, j) === null ? FITS : DIFFERS;
    return known[at] === FITS;
  };
  tables.set(calls, fits);
  return fits;
}

/** True where a pair that fits has every expected argument right as well: whole arguments and single ones are compared alike. */
export function comparesExactly(calls: Calls, tool: string): boolean {
  return calls.comparer === STRICT_COMPARER && argsModeOf(calls.args, tool) === 'exact';
}

/** The arguments tool_args looks at; null when they are not checked (`args: null`, or mode `ignore`). */
export function checkedArgs(calls: Calls, call: ExpectedCall): JsonObject | null {
  return argsModeOf(calls.args, call.tool) === 'ignore' ? null : call.args;
}
