import type { ToolCall } from '../../core/trajectory.ts';
import { listed } from '../values/preview.ts';
import type { ScoreDraft, Scorer } from '../scorer.ts';
import { maximumMatching } from '../tool-calls/bipartite.ts';
import { chosenAlternative } from '../tool-calls/alternatives.ts';
import { fitTable } from '../tool-calls/call-comparer.ts';

/**
 * Required steps done ÷ required steps. Required: `expected.steps` (tool names), else the expected calls (done = made with
 * matching arguments), else `must_call`. A case that declares none has no progress rate.
 */
export const progressRate: Scorer = (input) => {
  const { steps, must_call: mustCall } = input.evalCase.expected;
  if (steps !== undefined && steps.length > 0) return [rateOfNames(steps, input.trajectory.tool_calls)];
  const way = chosenAlternative(input);
  if (way !== null && way.calls.expected.length > 0) {
    const matched = maximumMatching(way.calls.expected.length, way.calls.made.length, fitTable(way.calls));
    const missing = way.calls.expected.filter((_call, i) => matched[i] === null).map((call) => call.tool);
    return [rate(way.calls.expected.length, missing)];
  }
  if (mustCall !== undefined && mustCall.length > 0) {
    return [rateOfNames([...new Set(mustCall)], input.trajectory.tool_calls)];
  }
  return [];
};

function rateOfNames(steps: readonly string[], calls: readonly ToolCall[]): ScoreDraft {
  const left = calls.filter((call) => call.malformed === null).map((call) => call.tool);
  const missing = steps.filter((step) => {
    const at = left.indexOf(step);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
  return rate(steps.length, missing);
}

function rate(required: number, missing: readonly string[]): ScoreDraft {
  const done = required - missing.length;
  return {
    scorer: 'progress_rate',
    dimension: null,
    value: done / required,
    passed: missing.length === 0,
    reason: `${done} of ${required} required steps done${missing.length === 0 ? '' : `; not done: ${listed(missing)}`}`,
    details: null,
  };
}
