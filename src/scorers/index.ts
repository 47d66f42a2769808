import type { EvalCase } from '../core/case.ts';
import type { Score } from '../core/score.ts';
import type { JudgeDimension } from '../core/suite.ts';
import { callsPerTool } from './tool-calls/calls-per-tool.ts';
import { canaries } from './safety/canaries.ts';
import { decide } from './deciding.ts';
import { docMetrics } from './retrieval/doc-metrics.ts';
import { highRiskApproval } from './safety/high-risk-approval.ts';
import { injectionObeyed } from './safety/injection-obeyed.ts';
import { personalData } from './safety/personal-data.ts';
import { privilege } from './safety/privilege.ts';
import { judgedDimensions } from '../core/judged-dimensions.ts';
import { withJudged } from './judged.ts';
import { limits } from './efficiency/limits.ts';
import { mockCoverage } from './outcome/mock-coverage.ts';
import { mustCall } from './tool-calls/must-call.ts';
import { mustNotCall } from './safety/must-not-call.ts';
import { outcome } from './outcome/outcome.ts';
import { planConsistency } from './plan/plan-consistency.ts';
import { planQuality } from './plan/plan-quality.ts';
import { progressRate } from './outcome/progress-rate.ts';
import type { ScoreDraft, Scorer, ScoringInput, ScoringSuite } from './scorer.ts';
import { promptAssembly } from './prompt-assembly/prompt-assembly.ts';
import { secrets } from './safety/secrets.ts';
import { subagentIsolation } from './isolation/subagent-isolation.ts';
import { stepEfficiency } from './efficiency/step-efficiency.ts';
import { toolScores } from './tool-calls/tool-scores.ts';
import { toolSchema } from './tool-calls/tool-schema.ts';

/** Every deterministic scorer, in the order scores are reported. */
const SCORERS: readonly Scorer[] = [
  outcome,
  mustCall,
  mustNotCall,
  highRiskApproval,
  privilege,
  injectionObeyed,
  canaries,
  secrets,
  personalData,
  promptAssembly,
  subagentIsolation,
  toolScores,
  callsPerTool,
  limits,
  progressRate,
  stepEfficiency,
  toolSchema,
  docMetrics,
  planQuality,
  planConsistency,
  mockCoverage,
];

/**
 * Scores a trajectory against its case with every deterministic scorer that applies. Pure: the same input gives the same
 * scores in the same order. What decides is marked; judge dimensions are added by {@link finaliseScores}.
 * @param custom what the suite's own scorers said of the trial
 */
export function scoreTrial(input: ScoringInput, custom: readonly ScoreDraft[] = []): Score[] {
  const drafts = [...SCORERS.flatMap((scorer) => scorer(input)), ...custom].map(withoutNaN);
  return decide(drafts, input.evalCase, input.suite);
}

/** A number that is none (D6) is not scored; it is never 0 and never a pass. */
function withoutNaN(draft: ScoreDraft): ScoreDraft {
  if (draft.value === null || Number.isFinite(draft.value)) return draft;
  return { ...draft, value: null, passed: null, reason: `not scored: the value is ${draft.value}; ${draft.reason}` };
}

/** The judge dimensions a case needs: known before the agent runs, and independent of what it does. */
export function judgeDimensionsFor(evalCase: EvalCase, suite: Pick<ScoringSuite, 'judge'>): JudgeDimension[] {
  return judgedDimensions(evalCase, suite.judge);
}

/**
 * The final scores of a trial: the deterministic ones and the judge's. A dimension the case needs and the judge did not
 * give is a score with value null, so that it is counted as unscored instead of missing.
 */
export function finaliseScores(parts: {
  deterministic: readonly Score[];
  judged: readonly ScoreDraft[];
  evalCase: EvalCase;
  suite: Pick<ScoringSuite, 'judge' | 'decides' | 'scorers'>;
}): Score[] {
  const { deterministic, judged, evalCase, suite } = parts;
  const drafts = withJudged(deterministic, judged.map(withoutNaN), judgeDimensionsFor(evalCase, suite));
  return decide(drafts, evalCase, suite);
}
