import { atLeast } from '../../core/score.ts';
import type { Scorer } from '../scorer.ts';

/** Below this, layer L3 fails. */
const PASS = 0.5;

/** min(1, min_steps ÷ tool calls made by the main agent); null when none was made. Only for cases with `min_steps`. */
export const stepEfficiency: Scorer = ({ evalCase, trajectory }) => {
  const { min_steps: least } = evalCase;
  if (least === undefined) return [];
  const made = trajectory.tool_calls.length;
  const value = made === 0 ? null : Math.min(1, least / made);
  return [
    {
      scorer: 'step_efficiency',
      dimension: null,
      value,
      passed: value === null ? null : atLeast(value, PASS),
      reason: value === null ? 'no step was made' : `${made} steps made, ${least} would do`,
      details: { min_steps: least, steps: made },
    },
  ];
};
