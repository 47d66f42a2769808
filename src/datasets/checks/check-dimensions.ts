import type { EvalCase } from '../../core/case.ts';
import { judgedDimensions } from '../../core/judged-dimensions.ts';
import type { JudgeConfig, JudgeDimension } from '../../core/suite.ts';

/** Dimensions that nothing but a judge scores; the others have a deterministic scorer too. */
const ONLY_JUDGED: readonly JudgeDimension[] = ['answer_completeness', 'multi_turn_coherence', 'trajectory'];

/**
 * What to say of cases whose own dimension would have no score: the suite does not list it, or the case has nothing to
 * judge by. Such cases would pass on whatever else they are scored by.
 */
export function unscoredDimensions(cases: readonly EvalCase[], judge: JudgeConfig | null): string[] {
  return ONLY_JUDGED.flatMap((dimension) => {
    const about = cases.filter((evalCase) => evalCase.dimension === dimension);
    const [first, ...more] = about.filter((evalCase) => !judgedDimensions(evalCase, judge).includes(dimension));
    if (first === undefined) return [];
    const those = `case "${first.id}"${more.length === 0 ? '' : ` and ${more.length} more`}`;
    const lacks =
      judge?.dimensions.includes(dimension) === true
        ? 'which has nothing to be judged by; add expected.criteria'
        : 'which nothing scores; add it to judge.dimensions';
    return [`${those}: dimension ${dimension}, ${lacks}`];
  });
}
