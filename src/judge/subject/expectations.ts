import type { EvalCase, ExpectedCall, ToolDefinition } from '../../core/case.ts';
import { canonicalJson } from '../../core/json.ts';
import { listed } from './steps.ts';

/** The case's acceptance criteria, else its rubric. Null = neither. */
export function criteriaOf({ expected, rubric }: EvalCase): string | null {
  return expected.criteria ?? rubric ?? null;
}

/** The calls a case expects: every right way, or the tools that must be called. Null = it expects none in particular. */
export function expectedTools({ expected }: EvalCase): string | null {
  if (expected.any_of !== undefined) {
    return listed(expected.any_of.map((way) => `${way.name ?? 'one right way'}:\n${callList(way.calls)}`));
  }
  if (expected.calls !== undefined) return callList(expected.calls);
  return listed(expected.must_call ?? []);
}

function callList(calls: readonly ExpectedCall[]): string {
  const lines = calls.map(({ tool, args }) => `${tool} ${args === null ? '(any arguments)' : canonicalJson(args)}`);
  return listed(lines) ?? 'no tool is to be called';
}

/** Tools on offer with what they are for. Null = none. */
export function toolsOnOffer(tools: readonly ToolDefinition[]): string | null {
  return listed(tools.map(({ name, description }) => (description === undefined ? name : `${name}: ${description}`)));
}
