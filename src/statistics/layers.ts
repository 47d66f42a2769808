import { atLeast } from '../core/score.ts';
import type { Layer } from '../core/trial.ts';

/** Below these a layer fails (docs/statistics.md, "Layers"). */
export const LAYER_LIMITS = { plan: 0.7, tool: 0.8, efficiency: 0.5 } as const;

export const LAYERS: readonly Layer[] = ['L1', 'L2', 'L3'];

/** The values of one trial that tell which layer broke; null = not scored, which never fails a layer. */
export interface LayerValues {
  plan_quality: number | null;
  plan_consistency: number | null;
  tool_score: number | null;
  task_completion: number | null;
  step_efficiency: number | null;
}

function below(value: number | null, limit: number): boolean {
  return value !== null && !atLeast(value, limit);
}

/** The lowest layer that fails: L1 planning, L2 tool calls, L3 outcome and path. Null when none does. */
export function failingLayer(values: LayerValues): Layer | null {
  if (below(values.plan_quality, LAYER_LIMITS.plan) || below(values.plan_consistency, LAYER_LIMITS.plan)) return 'L1';
  if (below(values.tool_score, LAYER_LIMITS.tool)) return 'L2';
  if (below(values.task_completion, 1) || below(values.step_efficiency, LAYER_LIMITS.efficiency)) return 'L3';
  return null;
}
