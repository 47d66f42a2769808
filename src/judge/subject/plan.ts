import type { EvalCase } from '../../core/case.ts';
import type { Trajectory } from '../../core/trajectory.ts';
import { listed } from './steps.ts';

/**
 * The plan of a trial: as the agent reports it, else the text the agent wrote with its first calls ("first I look up …").
 * Null = none is recorded; `''` never.
 */
export function reportedPlan(trajectory: Trajectory): string | null {
  if (trajectory.plan !== null) return listed(trajectory.plan) ?? 'an empty plan';
  const first = trajectory.messages.find(
    ({ role, tool_calls }) => role === 'assistant' && (tool_calls?.length ?? 0) > 0,
  );
  return textOrNull(first?.content);
}

/** The plan the steps are held against: the agent's own, else the execution plan it was given in its prompt. */
export function planToFollow(evalCase: EvalCase, trajectory: Trajectory): string | null {
  const own = reportedPlan(trajectory);
  if (own !== null) return own;
  const segments = [...(trajectory.prompt_segments ?? []), ...(evalCase.context?.prompt_segments ?? [])];
  return textOrNull(segments.find(({ name }) => name === 'execution_plan')?.text);
}

export const NO_PLAN = 'the trajectory records no plan';

function textOrNull(text: string | null | undefined): string | null {
  return text === undefined || text === null || text.trim() === '' ? null : text;
}
