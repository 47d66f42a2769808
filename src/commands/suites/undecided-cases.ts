import type { EvalCase } from '../../core/case.ts';
import type { Suite } from '../../core/suite.ts';
import { NO_USAGE } from '../../core/trajectory.ts';
import type { Trajectory } from '../../core/trajectory.ts';
import { finaliseScores, scoreTrial } from '../../scorers/index.ts';

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
export function undecidedCases(cases: readonly EvalCase[], suite: Suite): EvalCase[] {
  if (suite.scorers?.some(({ decides }) => decides) === true) return [];
  return cases.filter((evalCase) => {
    const deterministic = scoreTrial({ evalCase, trajectory: SOME_TRIAL, suite, costUsd: null });
    return !finaliseScores({ deterministic, judged: [], evalCase, suite }).some(({ deciding }) => deciding);
  });
}
