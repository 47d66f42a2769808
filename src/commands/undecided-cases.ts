import type { EvalCase } from '../core/case.ts';
import type { Suite } from '../core/suite.ts';
import type { Problem } from '../core/errors.ts';
import { NO_USAGE } from '../core/trajectory.ts';
import type { Trajectory } from '../core/trajectory.ts';
import type { LoadedSuite } from '../datasets/load-suite.ts';
import { warningAt } from '../datasets/readers/source.ts';
import { finaliseScores, scoreTrial } from '../scorers/index.ts';
import { trajectoryFromMessages } from '../scorers/trajectories/from-messages.ts';

/** A trial in which one unknown tool was called: every score that can be there, is. */
const SOME_TRIAL: Trajectory = {
  ...trajectoryFromMessages([{ role: 'assistant', content: null, tool_calls: [{}] }], {
    readToolCall: () => ({ id: null, tool: '', args: {}, rawArguments: null, malformed: null }),
  }),
  usage: NO_USAGE,
};

/** Cases none of whose scores decides: their trials would all end without a verdict, and the evaluation incomplete. */
function undecidedCases(cases: readonly EvalCase[], suite: Suite): EvalCase[] {
  if (suite.scorers?.some(({ decides }) => decides) === true) return [];
  return cases.filter((evalCase) => {
    const deterministic = scoreTrial({ evalCase, trajectory: SOME_TRIAL, suite, costUsd: null });
    return !finaliseScores({ deterministic, judged: [], evalCase, suite }).some(({ deciding }) => deciding);
  });
}

/** One warning for all cases that nothing decides, at the first of them. */
export function undecidedWarning({ suite, cases, positions }: LoadedSuite, file: string): Problem[] {
  const [first, ...more] = undecidedCases(cases, suite);
  if (first === undefined) return [];
  const those = `case "${first.id}"${more.length === 0 ? '' : ` and ${more.length} more`}`;
  const advice =
    'add expected.match, an outcome check such as answer_contains, or a reference and a judge; or name scores in decides';
  const place = positions.get(first.id) ?? { file, line: 0, column: 0 };
  return [warningAt(place, `${those}: no score decides, so trials end without a verdict; ${advice}`)];
}
