import type { JsonObject } from '../../core/json.ts';
import { atLeast } from '../../core/score.ts';
import type { ScoreDraft, Scorer } from '../scorer.ts';
import { chosenAlternative } from './alternatives.ts';
import type { JudgedAlternative } from './alternatives.ts';
import type { WrongCall } from './match-modes.ts';
import type { Part } from './weighted-parts.ts';

/** tool_score passes from here: the default gate, and the bound of layer L2. */
const TOOL_SCORE_PASS = 0.8;

/** tool_match, tool_score with its parts, and precision, recall and F1 of the tool calls. */
export const toolScores: Scorer = (input) => {
  const way = chosenAlternative(input);
  if (way === null) return [];
  const named = (input.evalCase.expected.any_of?.length ?? 0) > 0 ? `[${way.name}] ` : '';
  const part = (
    scorer: string,
    { value, reason }: Part,
    pass: number,
    details: JsonObject | null = null,
  ): ScoreDraft => ({
    scorer,
    dimension: scorer === 'tool_score' ? 'tool_selection' : null,
    value,
    passed: atLeast(value, pass),
    reason: named + reason,
    details,
  });
  const { names, args, order, total } = way.parts;
  return [
    ...matchScore(way, named),
    part('tool_score', total, TOOL_SCORE_PASS, {
      profile: input.suite.tool_score.profile,
      alternative: way.name,
      pairs: way.pairing.madeOf,
    }),
    part('tool_names', names, 1),
    part('tool_args', args, 1, args.first_wrong === undefined ? null : { first_wrong: args.first_wrong }),
    part('tool_order', order, 1),
    ...retrievalParts(way).map(({ scorer, value, reason }) => part(scorer, { value, reason }, 1)),
  ];
};

function matchScore(way: JudgedAlternative, named: string): ScoreDraft[] {
  if (way.match === null) return [];
  const { mode, passed, reason, firstWrong, done } = way.match;
  return [
    {
      scorer: 'tool_match',
      dimension: null,
      value: passed ? 1 : 0,
      passed,
      reason: named + reason,
      details: {
        mode,
        alternative: way.name,
        matched: done,
        first_wrong: firstWrong === null ? null : wrongDetails(firstWrong),
      },
    },
  ];
}

function wrongDetails(wrong: WrongCall): JsonObject {
  const { expectedIndex, madeIndex, tool, key, wanted, got } = wrong;
  return { expected_index: expectedIndex, made_index: madeIndex, tool, key, wanted, got };
}

/** Over calls matched by name; with nothing to divide by, 1 when both sides are empty, else 0. */
function retrievalParts(way: JudgedAlternative): { scorer: string; value: number; reason: string }[] {
  const matched = way.pairing.madeOf.filter((j) => j !== null).length;
  const expected = way.calls.expected.length;
  const made = way.calls.made.length;
  const empty = expected === 0 && made === 0 ? 1 : 0;
  const precision = made === 0 ? empty : matched / made;
  const recall = expected === 0 ? empty : matched / expected;
  const f1 = expected + made === 0 ? 1 : (2 * matched) / (expected + made);
  return [
    { scorer: 'tool_precision', value: precision, reason: `${matched} of ${made} calls made were expected ones` },
    { scorer: 'tool_recall', value: recall, reason: `${matched} of ${expected} expected calls were made` },
    { scorer: 'tool_f1', value: f1, reason: `${matched} calls matched, ${expected} expected, ${made} made` },
  ];
}
