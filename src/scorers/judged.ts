import type { EvalCase } from '../core/case.ts';
import { judgedDimensions } from '../core/judged-dimensions.ts';
import type { Score } from '../core/score.ts';
import type { JudgeDimension } from '../core/suite.ts';
import type { ScoreDraft, ScoringSuite } from './scorer.ts';

/**
 * What is left for the judge once the deterministic scorers have spoken: a dimension they settled under its own name is
 * not asked for.
 */
export function openDimensions(
  evalCase: EvalCase,
  suite: Pick<ScoringSuite, 'judge'>,
  deterministic: readonly Score[],
): JudgeDimension[] {
  const settled = new Set(deterministic.filter(isSettled).map(({ scorer }) => scorer));
  return judgedDimensions(evalCase, suite.judge).filter((dimension) => !settled.has(dimension));
}

/**
 * The deterministic scores and the judge's, one a name. Where both have a name, a settled deterministic score stays; else
 * the judge's stands and keeps the deterministic one in its details. A needed dimension that has no verdict is null, so
 * that it is counted as unscored instead of missing.
 */
export function withJudged(
  deterministic: readonly Score[],
  judged: readonly ScoreDraft[],
  needed: readonly JudgeDimension[],
): ScoreDraft[] {
  const verdicts = new Map(judged.map((draft) => [draft.scorer, draft]));
  const asked: ReadonlySet<string> = new Set(needed);
  const merged = deterministic.map((score): ScoreDraft => {
    if (!asked.has(score.scorer) || isSettled(score)) return score;
    const verdict = verdicts.get(score.scorer) ?? notJudged(score.scorer);
    const { value, passed, reason } = score;
    return { ...verdict, details: { ...verdict.details, deterministic: { value, passed, reason } } };
  });
  const present = new Set(deterministic.map(({ scorer }) => scorer));
  const added = judged.filter(({ scorer }) => !present.has(scorer));
  const absent = needed.filter((dimension) => !present.has(dimension) && !verdicts.has(dimension));
  return [...merged, ...added, ...absent.map(notJudged)];
}

/**
 * True when no judge could change it: the check failed, which is a fact, or it says itself (`details.settled`) that it saw
 * everything the dimension is about.
 */
function isSettled(score: Score): boolean {
  return score.passed === false || score.violation || score.details?.['settled'] === true;
}

function notJudged(dimension: string): ScoreDraft {
  return {
    scorer: dimension,
    dimension,
    value: null,
    passed: null,
    reason: 'not scored: the judge gave no verdict',
    details: null,
  };
}
