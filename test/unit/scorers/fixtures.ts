import type { EvalCase, Expected, ExpectedCall, ToolDefinition } from '../../../src/core/case.ts';
import type { JsonObject } from '../../../src/core/json.ts';
import type { Score } from '../../../src/core/score.ts';
import type { JudgeConfig } from '../../../src/core/suite.ts';
import type { ToolCall, Trajectory } from '../../../src/core/trajectory.ts';
import { scoreTrial } from '../../../src/scorers/index.ts';
import type { ScoringSuite } from '../../../src/scorers/scorer.ts';

/** A call as tests write it: a name, with or without arguments, in a turn of its own unless `turn` says otherwise. */
export type MadeCall = string | ({ tool: string; args?: JsonObject | null } & Partial<ToolCall>);

export function madeCalls(calls: readonly MadeCall[]): ToolCall[] {
  return calls.map((made, at) => {
    const call = typeof made === 'string' ? { tool: made } : made;
    const args = call.args === undefined ? {} : call.args;
    return {
      index: at,
      turn: at,
      id: `call_${at}`,
      raw_arguments: null,
      malformed: args === null ? 'not JSON' : null,
      result: null,
      error: null,
      approved: null,
      started_at_ms: 0,
      ended_at_ms: 0,
      ...call,
      args,
    };
  });
}

export function trajectory(calls: readonly MadeCall[] = [], fields: Partial<Trajectory> = {}): Trajectory {
  return {
    version: 1,
    final_status: 'COMPLETED',
    final_status_reason: null,
    answer: 'done',
    messages: [],
    tool_calls: madeCalls(calls),
    available_tools: [],
    iterations: calls.length + 1,
    model_calls: calls.length + 1,
    usage: { input: 10, cached: 0, output: 5, reasoning: 0, total: 15 },
    sub_agents: [],
    end_state: null,
    unmatched_calls: [],
    plan: null,
    retrieved_doc_ids: null,
    model: 'm',
    time_to_first_token_ms: null,
    approval_wait_ms: 0,
    started_at_ms: 1_000,
    ended_at_ms: 3_000,
    ...fields,
  };
}

/** Expected calls: a name = arguments not checked. */
export function wanted(...calls: (string | [string, JsonObject])[]): ExpectedCall[] {
  return calls.map((call) =>
    typeof call === 'string' ? { tool: call, args: null } : { tool: call[0], args: call[1] },
  );
}

export function evalCase(expected: Expected, fields: Partial<EvalCase> = {}): EvalCase {
  return { id: 'c', input: 'do it', expected, ...fields };
}

export const SUITE: ScoringSuite = {
  tool_score: { weights: { names: 0.4, args: 0.3, order: 0.3 }, profile: 'weighted' },
  safety: { forbidden_tools: [], high_risk_tools: [] },
  judge: null,
  tools: [],
};

export const JUDGE: JudgeConfig = {
  model: 'j',
  dimensions: ['task_completion', 'answer_quality'],
  language: 'en',
  temperature: 0,
  max_output_tokens: 1024,
  response_format: 'json_object',
};

export function tool(name: string, properties: JsonObject, required: string[] = []): ToolDefinition {
  return { name, parameters: { type: 'object', properties, required } };
}

/** Scores by name of one trial. */
export function scoresOf(
  expected: Expected,
  made: readonly MadeCall[] | Trajectory = [],
  options: { suite?: Partial<ScoringSuite>; evalCase?: Partial<EvalCase>; costUsd?: number | null } = {},
): Record<string, Score> {
  const scores = scoreTrial({
    evalCase: evalCase(expected, options.evalCase ?? {}),
    trajectory: Array.isArray(made) ? trajectory(made as MadeCall[]) : (made as Trajectory),
    suite: { ...SUITE, ...options.suite },
    costUsd: options.costUsd ?? null,
  });
  return Object.fromEntries(scores.map((score) => [score.scorer, score]));
}
