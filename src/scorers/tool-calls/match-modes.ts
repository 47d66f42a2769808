import type { MatchMode } from '../../core/case.ts';
import { BipartiteMatching, maximumMatching } from './bipartite.ts';
import { callMismatch, fitTable } from './call-comparer.ts';
import type { Calls } from './call-comparer.ts';
import type { Pairing } from './pair-calls.ts';
import { preview } from '../values/preview.ts';

/** The first call that is not as expected, for a reader and for reports. Positions are 0-based; null where there is none. */
export interface WrongCall {
  expectedIndex: number | null;
  madeIndex: number | null;
  tool: string;
  key: string;
  wanted: string;
  got: string;
}

export interface ModeVerdict {
  passed: boolean;
  reason: string;
  firstWrong: WrongCall | null;
  /** Expected calls that were made with matching arguments. */
  done: number;
}

/** Judges the calls under a match mode. The assignment is optimal: the order in which calls are listed never decides. */
export function judgeMode(calls: Calls, mode: MatchMode, pairing: Pairing): ModeVerdict {
  const fits = fitTable(calls);
  const matched = maximumMatching(calls.expected.length, calls.made.length, fits);
  const done = matched.filter((j) => j !== null).length;
  const passed = holds(calls, mode, done, fits);
  if (passed)
    return {
      passed,
      reason: `${mode}: ${done} of ${calls.expected.length} expected calls made`,
      firstWrong: null,
      done,
    };
  const firstWrong = firstWrongCall(calls, mode, matched, { fits, pairing });
  return { passed, reason: `${mode}: ${describe(calls, firstWrong)}`, firstWrong, done };
}

function holds(calls: Calls, mode: MatchMode, done: number, fits: (i: number, j: number) => boolean): boolean {
  const { expected, made } = calls;
  // An expectation of no calls means that no call is right, whatever extras a mode would allow.
  if (expected.length === 0) return made.length === 0;
  switch (mode) {
    case 'unordered':
      return done === expected.length && done === made.length;
    case 'superset':
      return done === expected.length;
    case 'subset':
      return done === made.length;
    case 'first':
      return made.some((call, j) => call.turn === made[0]?.turn && fits(0, j));
    case 'strict':
      return made.length === expected.length && orderedPrefix(calls, fits) === expected.length;
    case 'in_order':
      return orderedPrefix(calls, fits) === expected.length;
  }
}

/**
 * How many expected calls, from the first, appear in the made ones in order, calls of one turn having none among themselves.
 * Taking as many as possible in each turn is best: whatever could follow a shorter prefix can follow a longer one.
 */
function orderedPrefix(calls: Calls, fits: (i: number, j: number) => boolean): number {
  let next = 0;
  let from = 0;
  while (from < calls.made.length && next < calls.expected.length) {
    const turn: number[] = [];
    let at = from;
    while (at < calls.made.length && calls.made[at]?.turn === calls.made[from]?.turn) turn.push(at++);
    const matching = new BipartiteMatching(turn, fits);
    while (next < calls.expected.length && matching.add(next)) next += 1;
    from = at;
  }
  return next;
}

function firstWrongCall(
  calls: Calls,
  mode: MatchMode,
  matched: (number | null)[],
  help: { fits: (i: number, j: number) => boolean; pairing: Pairing },
): WrongCall {
  const { expected, made } = calls;
  const taken = new Set(matched);
  const missing = mode === 'first' ? 0 : matched.indexOf(null);
  const reportMissing = missing >= 0 && missing < expected.length && mode !== 'subset';
  if (reportMissing) return missingCall(calls, missing, mode, { matched, pairing: help.pairing });
  const extra = made.findIndex((_call, j) => !taken.has(j));
  if (extra >= 0 && mode !== 'superset' && mode !== 'in_order') return extraCall(calls, extra, matched);
  const at = orderedPrefix(calls, help.fits);
  const call = expected[at];
  const place = matched[at] ?? null;
  const step = place === null ? 'out of order' : `step ${place + 1}, before an earlier expected call`;
  return {
    expectedIndex: at,
    madeIndex: place,
    tool: call?.tool ?? '',
    key: '',
    wanted: `\`${call?.tool ?? ''}\` after ${at === 0 ? 'nothing' : `\`${expected[at - 1]?.tool ?? ''}\``}`,
    got: step,
  };
}

function missingCall(
  calls: Calls,
  i: number,
  mode: MatchMode,
  help: { matched: readonly (number | null)[]; pairing: Pairing },
): WrongCall {
  const { expected, made, comparer } = calls;
  const call = expected[i];
  const tool = call?.tool ?? '';
  const taken = new Set(help.matched);
  const same = (j: number): boolean => comparer.nameOf(made[j]?.tool ?? '') === comparer.nameOf(tool);
  const free = (j: number): boolean => !taken.has(j) && same(j);
  const paired = help.pairing.madeOf[i] ?? null;
  const inReach = (j: number): boolean => mode !== 'first' || made[j]?.turn === made[0]?.turn;
  const candidate =
    paired !== null && free(paired) && inReach(paired) ? paired : made.findIndex((_call, j) => free(j) && inReach(j));
  const found = candidate < 0 ? null : callMismatch(calls, i, candidate);
  if (found !== null)
    return { expectedIndex: i, madeIndex: candidate, tool, key: found.key, wanted: found.wanted, got: found.got };
  const got = notMade(
    calls,
    made.flatMap((_call, j) => (inReach(j) ? [j] : [])),
    { same, matched: help.matched },
  );
  const wanted =
    call === undefined || call.args === null ? `a call of ${tool}` : `a call of ${tool} ${preview(call.args)}`;
  return { expectedIndex: i, madeIndex: null, tool, key: '', wanted, got };
}

/** What was made instead of a call nothing made stands for; `reach` = the made calls that could have been it. */
function notMade(
  { made }: Calls,
  reach: readonly number[],
  help: { same: (j: number) => boolean; matched: readonly (number | null)[] },
): string {
  if (reach.length === 0) return 'no call';
  const namesakes = reach.filter(help.same).slice(0, 5);
  if (namesakes.length === 0) {
    const names = reach.slice(0, 10).map((j) => made[j]?.tool);
    return `calls of ${names.join(', ')}`;
  }
  // Without this the tool looks as if it had been called: it was, for another expected call.
  const stands = namesakes.map((j) => `call ${j + 1}, which is expected call ${help.matched.indexOf(j) + 1}`);
  return `only ${stands.join(', and ')}`;
}

/** A call too many. When its expected namesake is unmatched, their difference says more than "not expected". */
function extraCall(calls: Calls, j: number, matched: (number | null)[]): WrongCall {
  const { comparer } = calls;
  const made = calls.made[j];
  const tool = made?.tool ?? '';
  const name = comparer.nameOf(tool);
  const i = calls.expected.findIndex((call, at) => matched[at] === null && comparer.nameOf(call.tool) === name);
  const found = i < 0 ? null : callMismatch(calls, i, j);
  if (found !== null)
    return { expectedIndex: i, madeIndex: j, tool, key: found.key, wanted: found.wanted, got: found.got };
  const got =
    made === undefined || made.args === null ? `a call of ${tool}` : `a call of ${tool} ${preview(made.args)}`;
  return { expectedIndex: null, madeIndex: j, tool, key: '', wanted: 'no such call', got };
}

function describe(calls: Calls, wrong: WrongCall): string {
  const places = [
    ...(wrong.expectedIndex === null
      ? []
      : [`expected call ${wrong.expectedIndex + 1} of ${calls.expected.length} (index ${wrong.expectedIndex})`]),
    ...(wrong.madeIndex === null ? [] : [`made as call ${wrong.madeIndex + 1}`]),
  ].join(', ');
  const key = wrong.key === '' ? '' : `argument \`${wrong.key}\`: `;
  return `${places} \`${wrong.tool}\`: ${key}wanted ${wrong.wanted}, got ${wrong.got}`;
}
