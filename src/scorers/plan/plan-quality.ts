import type { JsonObject } from '../../core/json.ts';
import { atLeast } from '../../core/score.ts';
import type { ScoreDraft, Scorer } from '../scorer.ts';
import { firstLongestCommonSubsequence } from '../tool-calls/lcs.ts';
import { toolsOf } from '../tool-calls/tools-of.ts';
import { listed } from '../values/preview.ts';
import { toolNamer } from './named-tools.ts';

const PASSES_AT = 0.7;

/**
 * Share of the required plan points (`expected.plan`) that the agent's plan has, and the share of pairs of these that stand
 * in the required order (fewer than two: 1). Only where every point names tools; points in words are for the judge. A
 * point is there when the plan has each tool it names, one place of the plan for one point. No plan reported: null.
 */
export const planQuality: Scorer = (input) => {
  const points = input.evalCase.expected.plan ?? [];
  const named = toolNamer(toolsOf(input).keys());
  const required = points.map(named);
  if (points.length === 0 || required.some((tools) => tools.length === 0)) return [];
  const { plan } = input.trajectory;
  if (plan === null) return [draft(null, 'the agent reported no plan', null)];
  const places = placesOf(required, plan.map(named));
  const covered = places.filter((place) => place !== null);
  const coverage = covered.length / points.length;
  const missing = points.filter((_, at) => places[at] === null);
  const order = orderOf(covered);
  const lacks = missing.length === 0 ? '' : `; missing: ${listed(missing)}`;
  return [
    draft(coverage, `the plan has ${covered.length} of ${points.length} required points${lacks}`, {
      coverage,
      order_score: order,
      settled: true,
    }),
  ];
};

function draft(value: number | null, reason: string, details: JsonObject | null): ScoreDraft {
  const passed = value === null ? null : atLeast(value, PASSES_AT);
  return { scorer: 'plan_quality', dimension: 'plan_quality', value, passed, reason, details };
}

/**
 * The line of the plan each point is at; null for a point that is not there. Names are paired one to one: first those on
 * the longest common subsequence, so that an order that can be kept is; then the earliest free place.
 */
function placesOf(required: readonly string[][], plan: readonly string[][]): (number | null)[] {
  const wanted = required.flatMap((tools, point) => tools.map((tool) => ({ tool, point })));
  const offered = plan.flatMap((tools, line) => tools.map((tool) => ({ tool, line })));
  const pairs = new Map(
    firstLongestCommonSubsequence(
      wanted.map(({ tool }) => tool),
      offered.map(({ tool }) => tool),
    ),
  );
  const taken = new Set(pairs.values());
  wanted.forEach(({ tool }, at) => {
    if (pairs.has(at)) return;
    const free = offered.findIndex((one, place) => one.tool === tool && !taken.has(place));
    if (free < 0) return;
    pairs.set(at, free);
    taken.add(free);
  });
  return required.map((_, point) => {
    const lines = wanted.flatMap((one, at) => {
      if (one.point !== point) return [];
      const place = pairs.get(at);
      return [place === undefined ? null : (offered[place]?.line ?? null)];
    });
    const known = lines.filter((line) => line !== null);
    return known.length < lines.length ? null : Math.max(...known);
  });
}

/** Share of pairs in order; points on one line of the plan are in order with each other. */
function orderOf(lines: readonly number[]): number {
  const pairs = (lines.length * (lines.length - 1)) / 2;
  if (pairs === 0) return 1;
  const kept = lines.map((line, i) => lines.slice(i + 1).filter((later) => later >= line).length);
  return kept.reduce((sum, count) => sum + count, 0) / pairs;
}
