import type { EvalCase } from '../core/case.ts';
import type { JudgeDimension } from '../core/suite.ts';
import { answerQuality } from './dimension-answer-quality.ts';
import { taskCompletion } from './dimension-task-completion.ts';
import type { DimensionSpec } from './dimension.ts';

/** Every dimension a judge can score, by name. */
export const DIMENSIONS: Readonly<Record<JudgeDimension, DimensionSpec>> = {
  task_completion: taskCompletion,
  answer_quality: answerQuality,
};

/** Those of `wanted` whose case holds what they are judged from: answer_quality, say, needs a reference, criteria or rubric. */
export function applicableDimensions(evalCase: EvalCase, wanted: readonly JudgeDimension[]): JudgeDimension[] {
  return wanted.filter((name) => DIMENSIONS[name].applies(evalCase));
}
