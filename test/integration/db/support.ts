import type { EvalCase } from '../../../src/core/case.ts';
import { suiteSchema } from '../../../src/core/suite.schema.ts';
import type { Trajectory } from '../../../src/core/trajectory.ts';
import type { TrialKey } from '../../../src/core/trial.ts';
import type { Score } from '../../../src/core/score.ts';
import type { Db } from '../../../src/db/connect.ts';
import { createEvaluation, type NewEvaluation } from '../../../src/db/create-evaluation.ts';
import { newEvaluation } from '../../../src/db/new-evaluation.ts';
import type { JournalEntry, TrialEnd } from '../../../src/db/trial-rows.ts';

/** Stores an evaluation of these cases. */
export async function storeEvaluation(db: Db, id: string, cases: EvalCase[], suite: object = {}): Promise<void> {
  await createEvaluation(db, newEvaluationOf(id, cases, suite));
}

/** An evaluation of these cases before it is stored. */
export function newEvaluationOf(id: string, cases: EvalCase[], suite: object = {}): NewEvaluation {
  const parsed = suiteSchema.parse({
    name: 'orders',
    datasets: ['a.yaml'],
    agent: { type: 'openai', model: 'm' },
    ...suite,
  });
  const hashes = { suite: 's', data: 'd', agent: 'a' };
  const caseHashes = new Map(cases.map((one) => [one.id, `hash of ${one.id}`]));
  const source = { suite: parsed, suitePath: 's.yaml', suiteRoot: '/s', cases, caseHashes, hashes };
  return newEvaluation(source, { env: {}, now: new Date(), id });
}

export const casesOf = (...ids: string[]): EvalCase[] => ids.map((id) => ({ id, input: `about ${id}`, expected: {} }));
export const keyOf = (evaluation_id: string, case_id: string, trial_index = 1): TrialKey => ({
  evaluation_id,
  case_id,
  trial_index,
});

export function trajectoryOf(answer: string): Trajectory {
  return {
    version: 1,
    final_status: 'COMPLETED',
    final_status_reason: null,
    answer,
    messages: [{ role: 'user', content: 'hi' }],
    tool_calls: [],
    available_tools: [],
    iterations: 2,
    model_calls: 2,
    usage: { input: 8, cached: 0, output: 2, reasoning: 0, total: 10 },
    sub_agents: [],
    end_state: null,
    unmatched_calls: [],
    plan: null,
    retrieved_doc_ids: null,
    model: 'm',
    time_to_first_token_ms: null,
    approval_wait_ms: 0,
    started_at_ms: 1_000,
    ended_at_ms: 1_250,
  };
}

export function scoreOf(scorer: string, value: number | null, more: Partial<Score> = {}): Score {
  const passed = value === null ? null : value >= 1;
  return {
    scorer,
    dimension: null,
    value,
    passed,
    reason: `because of ${scorer}`,
    details: null,
    deciding: true,
    violation: false,
    ...more,
  };
}

export function endOf(key: TrialKey, fence: number, more: Partial<TrialEnd> = {}): TrialEnd {
  return {
    key,
    fence,
    status: 'passed',
    error: null,
    trajectory: trajectoryOf('done'),
    cost_usd: 0.5,
    judge_cost_usd: 0,
    judge_tokens: 0,
    scores: [scoreOf('answer_contains', 1), scoreOf('tool_match', 1)],
    verdicts: [],
    ...more,
  };
}

export function callOf(key: TrialKey, fence: number, more: Partial<JournalEntry> = {}): JournalEntry {
  return {
    key,
    fence,
    role: 'agent',
    path: '',
    dimension: '',
    vote: 0,
    sequence: 0,
    request_hash: 'r1',
    response: {
      content: 'hello',
      refusal: null,
      tool_calls: [],
      finish_reason: 'stop',
      usage: { input: 3, cached: 0, output: 2, reasoning: 0, total: 5 },
      model: 'm',
      request_id: null,
      time_to_first_token_ms: null,
    },
    cost_usd: 0.25,
    latency_ms: 12.4,
    ...more,
  };
}
