import type { JsonObject } from '../../core/json.ts';
import type { ToolScoreConfig } from '../../core/suite.ts';
import { checkedArgs } from './call-comparer.ts';
import type { Calls } from './call-comparer.ts';
import type { Pairing } from './pair-calls.ts';
import { listed, preview } from '../values/preview.ts';

/** A part of the tool score, with the sentence that explains it. */
export interface Part {
  value: number;
  reason: string;
  /** The first call whose arguments are wrong, as fields; left out: there is none. */
  first_wrong?: JsonObject;
}

export interface ToolScoreParts {
  names: Part;
  args: Part;
  order: Part;
  total: Part;
}

/** |E ∩ A| / max(|E|, |A|) over the sets of distinct names; both empty: 1. */
export function namesPart(calls: Calls): Part {
  const expected = new Set(calls.expected.map((call) => calls.comparer.nameOf(call.tool)));
  const made = new Set(calls.made.map((call) => calls.comparer.nameOf(call.tool)));
  const size = Math.max(expected.size, made.size);
  if (size === 0) return { value: 1, reason: 'no call was expected and none was made' };
  const missing = [...expected].filter((name) => !made.has(name));
  const extra = [...made].filter((name) => !expected.has(name));
  const shared = expected.size - missing.length;
  const reason = [
    `${shared} of ${size} tools agree`,
    ...(missing.length > 0 ? [`never called: ${listed(missing)}`] : []),
    ...(extra.length > 0 ? [`not expected: ${listed(extra)}`] : []),
  ].join('; ');
  return { value: shared / size, reason };
}

/** Matching expected arguments ÷ expected arguments, over expected calls whose arguments are checked; none: 1. */
function argsPart(calls: Calls, pairing: Pairing): Part {
  let wanted = 0;
  let right = 0;
  let wrong: WrongArgument | null = null;
  for (const [i, call] of calls.expected.entries()) {
    const args = checkedArgs(calls, call);
    if (args === null) continue;
    const count = Object.keys(args).length;
    wanted += count;
    right += pairing.matchingArgs[i] ?? 0;
    if (wrong === null && (pairing.matchingArgs[i] ?? 0) < count) wrong = describeWrong(calls, i, pairing);
  }
  if (wanted === 0) return { value: 1, reason: 'no arguments to check' };
  const reason = `${right} of ${wanted} expected arguments are right`;
  if (wrong === null) return { value: right / wanted, reason };
  return { value: right / wanted, reason: `${reason}; ${wrong.text}`, first_wrong: wrong.fields };
}

interface WrongArgument {
  text: string;
  fields: JsonObject;
}

function describeWrong(calls: Calls, i: number, pairing: Pairing): WrongArgument {
  const call = calls.expected[i];
  const at = pairing.madeOf[i];
  const tool = call?.tool ?? '';
  const place = `expected call ${i + 1} (index ${i}) \`${tool}\``;
  const made = at === null || at === undefined ? undefined : calls.made[at];
  const wanted = call === undefined ? null : checkedArgs(calls, call);
  const fields = { expected_index: i, made_index: made?.index ?? null, tool };
  if (made === undefined || made.args === null || wanted === null) {
    const missing = { key: '', wanted: wanted === null ? 'the call' : preview(wanted), got: 'not called' };
    return { text: `${place}: not called, all its arguments are wrong`, fields: { ...fields, ...missing } };
  }
  for (const key of Object.keys(wanted)) {
    const found = calls.comparer.argument(tool, key, wanted, made.args);
    if (found === null) continue;
    const diff = { key: found.key, wanted: found.wanted, got: found.got };
    const words = `argument \`${diff.key}\`: wanted ${diff.wanted}, got ${diff.got}`;
    return { text: `${place}, made as call ${made.index + 1}: ${words}`, fields: { ...fields, ...diff } };
  }
  return { text: place, fields };
}

/** Share of expected pairs, both matched, whose made calls are in that order (one turn counts as in order); fewer than two matched: 1. */
function orderPart(calls: Calls, pairing: Pairing): Part {
  const matched = pairing.madeOf.flatMap((j, i) => (j === null ? [] : [{ i, j, turn: calls.made[j]?.turn ?? 0 }]));
  const pairs = (matched.length * (matched.length - 1)) / 2;
  if (pairs === 0) return { value: 1, reason: 'fewer than two calls to order' };
  let inOrder = 0;
  let wrong: string | null = null;
  for (const [at, first] of matched.entries()) {
    for (let next = at + 1; next < matched.length; next += 1) {
      const second = matched[next];
      if (second === undefined) continue;
      if (first.j < second.j || first.turn === second.turn) inOrder += 1;
      else wrong ??= describeOrder(calls, first, second);
    }
  }
  const reason = `${inOrder} of ${pairs} pairs in order`;
  return { value: inOrder / pairs, reason: wrong === null ? reason : `${reason}; ${wrong}` };
}

interface Placed {
  i: number;
  j: number;
}

function describeOrder(calls: Calls, first: Placed, second: Placed): string {
  const name = (i: number): string => `\`${calls.expected[i]?.tool ?? ''}\` (expected call ${i + 1})`;
  const step = (j: number): string => `step ${(calls.made[j]?.index ?? j) + 1}`;
  return `${name(first.i)} should come before ${name(second.i)}, but was made at ${step(first.j)}, after ${step(second.j)}`;
}

/** The weighted tool score of docs/scoring.md: 0.4 names + 0.3 args + 0.3 order unless configured otherwise. */
export function weightedParts(calls: Calls, pairing: Pairing, weights: ToolScoreConfig['weights']): ToolScoreParts {
  const names = namesPart(calls);
  const args = argsPart(calls, pairing);
  const order = orderPart(calls, pairing);
  return { names, args, order, total: total(calls, pairing, { names, args, order }, weights) };
}

function total(
  calls: Calls,
  pairing: Pairing,
  parts: Omit<ToolScoreParts, 'total'>,
  weights: ToolScoreConfig['weights'],
): Part {
  const { names, args, order } = parts;
  const { expected, made } = calls;
  if (expected.length === 0 && made.length === 0) return { value: 1, reason: 'no call was expected and none was made' };
  if (expected.length === 0) {
    return { value: 0, reason: `no call was expected, made: ${listed(made.map((call) => call.tool))}` };
  }
  if (made.length === 0) {
    return { value: 0, reason: `no call was made, expected: ${listed(expected.map((call) => call.tool))}` };
  }
  if (pairing.madeOf.every((j) => j === null)) {
    return { value: 0, reason: `none of the expected calls was made: ${listed(expected.map((call) => call.tool))}` };
  }
  return weightedTotal({ names, args, order }, weights);
}

/** The weighted sum, kept inside [0,1] against rounding, with its own working as the reason. */
export function weightedTotal(parts: Omit<ToolScoreParts, 'total'>, weights: ToolScoreConfig['weights']): Part {
  const { names, args, order } = parts;
  const perfect = names.value === 1 && args.value === 1 && order.value === 1;
  const sum = weights.names * names.value + weights.args * args.value + weights.order * order.value;
  const value = perfect ? 1 : Math.min(1, Math.max(0, sum));
  const show = (weight: number, part: Part, word: string): string => `${weight} × ${word} ${round(part.value)}`;
  const working = [
    show(weights.names, names, 'names'),
    show(weights.args, args, 'args'),
    show(weights.order, order, 'order'),
  ];
  const why = [names, args, order].find((part) => part.value < 1)?.reason;
  return { value, reason: `${working.join(' + ')} = ${round(value)}${why === undefined ? '' : `; ${why}`}` };
}

function round(value: number): string {
  return String(Math.round(value * 1000) / 1000);
}
