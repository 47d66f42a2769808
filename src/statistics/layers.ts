import { atLeast } from '../core/score.ts';
import type { Layer } from '../core/trial.ts';

/** Below these a layer fails (docs/statistics.md, "Layers"). */
export const LAYER_LIMITS = { plan: 0.7, tool: 0.8, efficiency: 0.5 } as const;

/**
 * Scores about the calls themselves. Where one of them decides and fails, the calls are what broke, even if the
 * weighted tool score is still over its limit.
 */
export const CALL_SCORES: ReadonlySet<string> = new Set([
  'tool_match',
  'tool_schema',
  'calls_per_tool',
  'must_call',
  'must_not_call',
  'high_risk_approval',
]);

export const LAYERS: readonly Layer[] = ['L1', 'L2', 'L3'];

/** The values of one trial that tell which layer broke; null = not scored, which never fails a layer. */
export interface LayerValues {
  plan_quality: number | null;
  plan_consistency: number | null;
  tool_score: number | null;
  /** A deciding score about the calls failed (see {@link CALL_SCORES}). */
  calls_wrong: boolean;
  task_completion: number | null;
  step_efficiency: number | null;
}

function below(value: number | null, limit: number): boolean {
  return value !== null && !atLeast(value, limit);
}

/** The lowest layer that fails: L1 planning, L2 tool calls, L3 outcome and path. Null when none does. */
export function failingLayer(values: LayerValues): Layer | null {
  if (below(values.plan_quality, LAYER_LIMITS.plan) || below(values.plan_consistency, LAYER_LIMITS.plan)) return 'L1';
  if (below(values.tool_score, LAYER_LIMITS.tool) || values.calls_wrong) return 'L2';
  if (below(values.task_completion, 1) || below(values.step_efficiency, LAYER_LIMITS.efficiency)) return 'L3';
  return null;
}
