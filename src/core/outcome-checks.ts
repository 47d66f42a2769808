import type { EvalCase } from './case.ts';

/** True when the case has a deterministic acceptance criterion: these then decide task completion, not the judge. */
export function hasOutcomeChecks({ expected }: Pick<EvalCase, 'expected'>): boolean {
  const lists = [expected.answer_contains, expected.answer_not_contains, expected.answer_matches, expected.state];
  const single = [expected.answer_equals, expected.answer_json, expected.number, expected.final_status];
  return lists.some((list) => (list?.length ?? 0) > 0) || single.some((check) => check !== undefined);
}
