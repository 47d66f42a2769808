import type { EvalCase } from '../core/case.ts';
import type { Suite } from '../core/suite.ts';
import type { Problem } from '../core/errors.ts';
import { NO_USAGE } from '../core/trajectory.ts';
import type { Trajectory } from '../core/trajectory.ts';
import type { LoadedSuite } from '../datasets/load-suite.ts';
import { warningAt } from '../datasets/readers/source.ts';
import { finaliseScores, scoreTrial } from '../scorers/index.ts';

/** A trial in which one unknown tool was called: every score that can be there, is. */
const SOME_TRIAL: Trajectory = {
  version: 1,
  final_status: 'COMPLETED',
  final_status_reason: null,
  answer: null,
  messages: [],
  tool_calls: [
    {
      index: 0,
      turn: 0,
      id: null,
      tool: '',
      args: {},
      raw_arguments: null,
      malformed: null,
      result: null,
      error: null,
      approved: null,
      started_at_ms: 0,
      ended_at_ms: 0,
    },
  ],
  available_tools: [],
  iterations: 1,
  model_calls: 1,
  usage: NO_USAGE,
  sub_agents: [],
  end_state: null,
  unmatched_calls: [],
  plan: null,
  retrieved_doc_ids: null,
  model: null,
  time_to_first_token_ms: null,
  approval_wait_ms: 0,
  started_at_ms: 0,
  ended_at_ms: 0,
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
