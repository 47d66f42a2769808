import type { ToolScoreConfig } from '../../core/suite.ts';
import { checkedArgs } from './call-comparer.ts';
import type { Calls } from './call-comparer.ts';
import { namesPart, weightedTotal } from './weighted-parts.ts';
import type { Part, ToolScoreParts } from './weighted-parts.ts';

/**
 * The tool score as its source computes it, to the letter, for comparing with numbers obtained there: arguments of calls
 * that were not made are skipped; the first made call of a name is the one compared; order is 1 when the first expected tool
 * first appears before the last expected one, else 0.5 (also when either was not made), 1 with fewer than two calls on
 * either side. Both lists empty: 1; exactly one empty: 0; no expected tool made: 0.
 */
export function sourceParts(calls: Calls, weights: ToolScoreConfig['weights']): ToolScoreParts {
  const names = namesPart(calls);
  const args = sourceArgs(calls);
  const order = sourceOrder(calls);
  const sides = [calls.expected.length, calls.made.length];
  if (sides.every((length) => length === 0)) {
    return { names, args, order, total: { value: 1, reason: 'no call was expected and none was made' } };
  }
  if (sides.includes(0) || names.value === 0) return { names, args, order, total: { value: 0, reason: names.reason } };
  return { names, args, order, total: weightedTotal({ names, args, order }, weights) };
}

function firstCallOf(calls: Calls, tool: string): number {
  const name = calls.comparer.nameOf(tool);
  return calls.made.findIndex((call) => calls.comparer.nameOf(call.tool) === name);
}

function sourceArgs(calls: Calls): Part {
  let wanted = 0;
  let right = 0;
  let wrong: string | null = null;
  for (const [i, call] of calls.expected.entries()) {
    const args = checkedArgs(calls, call);
    const made = calls.made[firstCallOf(calls, call.tool)];
    if (args === null || made === undefined) continue;
    for (const key of Object.keys(args)) {
      wanted += 1;
      const found =
        made.args === null
          ? { key, wanted: 'readable arguments', got: 'a malformed call' }
          : calls.comparer.argument(call.tool, key, args, made.args);
      if (found === null) right += 1;
      else
        wrong ??= `expected call ${i + 1} (index ${i}) \`${call.tool}\`: argument \`${found.key}\`: wanted ${found.wanted}, got ${found.got}`;
    }
  }
  if (wanted === 0) return { value: 1, reason: 'no arguments to check' };
  const reason = `${right} of ${wanted} expected arguments are right`;
  return { value: right / wanted, reason: wrong === null ? reason : `${reason}; ${wrong}` };
}

function sourceOrder(calls: Calls): Part {
  const { expected, made } = calls;
  if (expected.length < 2 || made.length < 2) return { value: 1, reason: 'fewer than two calls on one side' };
  const first = expected[0]?.tool ?? '';
  const last = expected.at(-1)?.tool ?? '';
  const [firstAt, lastAt] = [firstCallOf(calls, first), firstCallOf(calls, last)];
  if (firstAt >= 0 && lastAt >= 0 && firstAt < lastAt) {
    return { value: 1, reason: `\`${first}\` first appears before \`${last}\`` };
  }
  return { value: 0.5, reason: `\`${first}\` does not first appear before \`${last}\`` };
}
