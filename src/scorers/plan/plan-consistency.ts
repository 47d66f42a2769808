import type { JsonObject } from '../../core/json.ts';
import { atLeast } from '../../core/score.ts';
import type { ToolCall } from '../../core/trajectory.ts';
import type { ScoreDraft, Scorer, ScoringInput } from '../scorer.ts';
import { firstLongestCommonSubsequence } from '../tool-calls/lcs.ts';
import { toolsOf } from '../tool-calls/tools-of.ts';
import { listed } from '../values/preview.ts';
import { toolNamer } from './named-tools.ts';

const PASSES_AT = 0.7;

/**
 * The plan the agent reported against the steps it took, where the case has `expected.plan` or the dimension. Both are read
 * as sequences of tools, a tool several times in a row counting once (retries, pages), calls of one turn in the plan's
 * order. With L = length of their longest common subsequence: where every line of the plan names tools,
 * 2 L ÷ (planned + taken); where some are in words, L ÷ planned, since the calls left over may be those lines. Such a
 * score is only settled by failing. A plan that names no tool is for the judge; none reported: null.
 */
export const planConsistency: Scorer = (input) => {
  const { evalCase, trajectory } = input;
  const asked = (evalCase.expected.plan?.length ?? 0) > 0 || evalCase.dimension === 'plan_consistency';
  if (!asked) return [];
  const { plan } = trajectory;
  if (plan === null) return [draft(null, 'the agent reported no plan', null)];
  const named = toolNamer(toolNames(input));
  const lines = plan.map(named);
  const planned = withoutRepeats(lines.flat());
  if (planned.length === 0) return [];
  const complete = lines.every((tools) => tools.length > 0);
  return [scored(planned, takenOf(trajectory.tool_calls, planned), complete)];
};

function scored(planned: readonly string[], taken: readonly string[], complete: boolean): ScoreDraft {
  const pairs = firstLongestCommonSubsequence(planned, taken);
  const kept = pairs.length;
  const value = complete ? (2 * kept) / (planned.length + taken.length) : kept / planned.length;
  const [done, called] = [new Set(pairs.map(([at]) => at)), new Set(pairs.map(([, at]) => at))];
  const left = planned.filter((_, at) => !done.has(at));
  const extra = taken.filter((_, at) => !called.has(at));
  const notDone = left.length === 0 ? '' : `; not taken in its order: ${listed(left)}`;
  const beside = extra.length === 0 || !complete ? '' : `; not planned there: ${listed(extra)}`;
  return draft(value, `${kept} of ${planned.length} planned tool steps taken in order${notDone}${beside}`, {
    planned: [...planned],
    taken: [...taken],
    ...(complete ? { settled: true } : {}),
  });
}

function draft(value: number | null, reason: string, details: JsonObject | null): ScoreDraft {
  const passed = value === null ? null : atLeast(value, PASSES_AT);
  return { scorer: 'plan_consistency', dimension: 'plan_consistency', value, passed, reason, details };
}

/** What a plan may speak of: the tools on offer, and those that were called. */
function toolNames(input: ScoringInput): Set<string> {
  return new Set([...toolsOf(input).keys(), ...input.trajectory.tool_calls.map((call) => call.tool)]);
}

function withoutRepeats(tools: readonly string[]): string[] {
  return tools.filter((tool, at) => at === 0 || tool !== tools[at - 1]);
}

/** Tools called, turn by turn; in a turn the planned ones first, as the plan has them. */
function takenOf(calls: readonly ToolCall[], planned: readonly string[]): string[] {
  const place = (tool: string): number => {
    const at = planned.indexOf(tool);
    return at < 0 ? planned.length : at;
  };
  const ordered = [...calls].sort((a, b) => a.turn - b.turn || place(a.tool) - place(b.tool) || a.index - b.index);
  return withoutRepeats(ordered.map((call) => call.tool));
}
