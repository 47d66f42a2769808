import type { JudgeDimension } from '../../core/suite.ts';
import { answerQuality } from './answer-quality.ts';
import { taskCompletion } from './task-completion.ts';
import type { DimensionSpec } from './dimension.ts';

/** Every dimension a judge can score, by name. Which of them a case needs is decided in scorers/judged.ts. */
export const DIMENSIONS: Readonly<Record<JudgeDimension, DimensionSpec>> = {
  task_completion: taskCompletion,
  answer_quality: answerQuality,
};
