import type { EvalCase } from '../../../src/core/case.ts';
import type { ModelReply, ModelRequest, TrialModel, CallPlace } from '../../../src/core/model.ts';
import type { JudgeConfig, JudgeDimension } from '../../../src/core/suite.ts';
import { NO_USAGE } from '../../../src/core/trajectory.ts';
import type { Trajectory } from '../../../src/core/trajectory.ts';
import { judgeTrial } from '../../../src/judge/judge-trial.ts';
import type { JudgeTrialResult } from '../../../src/judge/judge-trial.ts';
import { loadPrompts } from '../../../src/judge/load-prompts.ts';

export const CONFIG: JudgeConfig = {
  model: 'judge-1',
  dimensions: ['task_completion', 'answer_quality'],
  language: 'en',
  temperature: 0,
  max_output_tokens: 100,
  response_format: 'json_object',
};

export const CASE: EvalCase = {
  id: 'refund-2',
  input: 'Refund order 88',
  expected: { answer: 'Order 88 is refunded.' },
};

export function trajectoryWith(answer: string | null): Trajectory {
  return {
    version: 1,
    final_status: 'COMPLETED',
    final_status_reason: null,
    answer,
    messages: [],
    tool_calls: [],
    available_tools: [],
    iterations: 1,
    model_calls: 1,
    usage: NO_USAGE,
    sub_agents: [],
    end_state: null,
    unmatched_calls: [],
    plan: null,
    retrieved_doc_ids: null,
    model: 'agent-1',
    time_to_first_token_ms: null,
    approval_wait_ms: 0,
    started_at_ms: 0,
    ended_at_ms: 1,
  };
}

export function reply(content: string | null, rest: Partial<ModelReply> = {}): ModelReply {
  return {
    content,
    refusal: null,
    tool_calls: [],
    finish_reason: 'stop',
    usage: { input: 10, cached: 0, output: 5, reasoning: 0, total: 15 },
    model: 'judge-1-2026',
    request_id: null,
    time_to_first_token_ms: null,
    ...rest,
  };
}

export interface RecordedCall {
  request: ModelRequest;
  place: CallPlace;
}

/** A model that answers each dimension from its own list, in order; an error in the list is thrown. */
export function scriptedJudge(replies: Partial<Record<JudgeDimension, (ModelReply | Error)[]>>): {
  model: TrialModel;
  calls: RecordedCall[];
} {
  const calls: RecordedCall[] = [];
  return {
    calls,
    model: {
      complete: async (request, { place }) => {
        calls.push({ request, place });
        const next = replies[place.dimension as JudgeDimension]?.[place.sequence];
        if (next === undefined) throw new Error(`unexpected call ${place.dimension} ${place.sequence}`);
        if (next instanceof Error) throw next;
        return next;
      },
    },
  };
}

/** Judges one answer in one dimension with these replies. */
export async function judgeOne(
  replies: (ModelReply | Error)[],
  options: {
    dimension?: JudgeDimension;
    answer?: string | null;
    evalCase?: EvalCase;
    trajectory?: Partial<Trajectory>;
    config?: Partial<JudgeConfig>;
  } = {},
): Promise<{
  draft: JudgeTrialResult['drafts'][number];
  verdict: JudgeTrialResult['verdicts'][number];
  calls: RecordedCall[];
}> {
  const dimension = options.dimension ?? 'task_completion';
  const judge = scriptedJudge({ [dimension]: replies });
  const result = await judgeTrial({
    evalCase: options.evalCase ?? CASE,
    trajectory: {
      ...trajectoryWith(options.answer === undefined ? 'Order 88 is refunded.' : options.answer),
      ...options.trajectory,
    },
    config: { ...CONFIG, ...options.config },
    dimensions: [dimension],
    prompts: await loadPrompts(null, options.config?.language ?? 'en'),
    model: judge.model,
    signal: new AbortController().signal,
  });
  return { draft: result.drafts[0]!, verdict: result.verdicts[0]!, calls: judge.calls };
}
