import type { JudgeDimension } from '../../core/suite.ts';
import { answerCompleteness } from './answer-completeness.ts';
import { answerQuality } from './answer-quality.ts';
import type { DimensionSpec } from './dimension.ts';
import { multiTurnCoherence } from './multi-turn-coherence.ts';
import { planConsistency } from './plan-consistency.ts';
import { planQuality } from './plan-quality.ts';
import { promptAssembly } from './prompt-assembly.ts';
import { ragRecall } from './rag-recall.ts';
import { subagentIsolation } from './subagent-isolation.ts';
import { taskCompletion } from './task-completion.ts';
import { toolSelection } from './tool-selection.ts';
import { trajectory } from './trajectory.ts';

/** Every dimension a judge can score, by name. Which of them a case needs is decided in core/judged-dimensions.ts. */
export const DIMENSIONS: Readonly<Record<JudgeDimension, DimensionSpec>> = {
  task_completion: taskCompletion,
  answer_quality: answerQuality,
  tool_selection: toolSelection,
  prompt_assembly: promptAssembly,
  subagent_isolation: subagentIsolation,
  rag_recall: ragRecall,
  answer_completeness: answerCompleteness,
  multi_turn_coherence: multiTurnCoherence,
  trajectory,
  plan_quality: planQuality,
  plan_consistency: planConsistency,
};
