import type { Expected, ExpectedAlternative } from '../../core/case.ts';
import type { ToolScoreConfig } from '../../core/suite.ts';
import type { ScoringInput } from '../scorer.ts';
import { toolsOf } from './tools-of.ts';
import { bfclComparer } from './bfcl-comparer.ts';
import { STRICT_COMPARER } from './call-comparer.ts';
import type { Calls } from './call-comparer.ts';
import { judgeMode } from './match-modes.ts';
import type { ModeVerdict } from './match-modes.ts';
import { pairCalls } from './pair-calls.ts';
import type { Pairing } from './pair-calls.ts';
import { sourceParts } from './source-profile.ts';
import { weightedParts } from './weighted-parts.ts';
import type { ToolScoreParts } from './weighted-parts.ts';

/** One acceptable way, compared with what was done. */
export interface JudgedAlternative {
  name: string;
  calls: Calls;
  pairing: Pairing;
  parts: ToolScoreParts;
  /** Null when no match mode is declared. */
  match: ({ mode: NonNullable<Expected['match']> } & ModeVerdict) | null;
}

/** The ways a case accepts; empty when it says nothing about tool calls. */
function alternativesOf(expected: Expected): ExpectedAlternative[] {
  const own = expected.calls === undefined ? [] : [{ name: 'expected.calls', calls: expected.calls }];
  const listed = (expected.any_of ?? []).map((way, at) => ({ ...way, name: way.name ?? `alternative ${at + 1}` }));
  return [...own, ...listed];
}

const judged = new WeakMap<ScoringInput, JudgedAlternative | null>();

/**
 * The alternative that counts: a passing match first, then the best tool score, then the listed order.
 * Null when the case says nothing about tool calls. Computed once for each input.
 */
export function chosenAlternative(input: ScoringInput): JudgedAlternative | null {
  const known = judged.get(input);
  if (known !== undefined) return known;
  const ways = alternativesOf(input.evalCase.expected).map((way) => judgeAlternative(input, way));
  let best = ways[0] ?? null;
  for (const way of ways) if (best !== null && isBetter(way, best)) best = way;
  judged.set(input, best);
  return best;
}

function isBetter(way: JudgedAlternative, best: JudgedAlternative): boolean {
  const [passes, bestPasses] = [way.match?.passed === true, best.match?.passed === true];
  if (passes !== bestPasses) return passes;
  return way.parts.total.value > best.parts.total.value + 1e-9;
}

function judgeAlternative(input: ScoringInput, way: ExpectedAlternative): JudgedAlternative {
  const { evalCase, trajectory, suite } = input;
  const args = way.args ?? evalCase.expected.args;
  const mode = way.match ?? evalCase.expected.match;
  const comparer = suite.tool_score.profile === 'bfcl' ? bfclComparer(toolsOf(input)) : STRICT_COMPARER;
  const calls: Calls = { expected: way.calls, made: trajectory.tool_calls, args, comparer };
  const pairing = pairCalls(calls);
  return {
    name: way.name ?? 'expected.calls',
    calls,
    pairing,
    parts: partsFor(calls, pairing, suite.tool_score),
    match: mode === undefined ? null : { mode, ...judgeMode(calls, mode, pairing) },
  };
}

function partsFor(calls: Calls, pairing: Pairing, config: ToolScoreConfig): ToolScoreParts {
  return config.profile === 'source'
    ? sourceParts(calls, config.weights)
    : weightedParts(calls, pairing, config.weights);
}
