import { releaseTrial } from '../db/model-failures.ts';
import { openDimensions } from '../scorers/judged.ts';
import type { TrialStepInput, TrialStepResult } from './contract.ts';
import type { ActivityDeps } from './deps.ts';
import type { EvaluationContext } from './evaluation-context.ts';
import type { HandOver } from './hand-over.ts';
import { createJudgeStep, endTrial } from './judge-step.ts';

/**
 * The deterministic checks of a trial with sub-agents, between the agent and the judge, whatever agent it is that reports
 * its sub-agents. A leak is a fact no judge can change: a trial that leaves the judge nothing to say ends here, unasked.
 */
export function createCheckIsolation(
  deps: ActivityDeps,
  contextOf: (evaluationId: string, revision: number) => Promise<EvaluationContext>,
  handOver: HandOver,
): (input: TrialStepInput) => Promise<TrialStepResult> {
  return createJudgeStep(deps, contextOf, handOver, async ({ step, input, handed, deterministic }) => {
    const { key, claim, context } = step;
    const open = context.judge === null ? [] : openDimensions(step.evalCase, context.suite, deterministic);
    if (open.length > 0) {
      if (handed === null) await releaseTrial(deps.db, key, claim.fence);
      else handOver.put(input, handed);
      return { n: 'judge' };
    }
    const judged = { drafts: [], verdicts: [] };
    const money = { judge_cost_usd: 0, judge_tokens: 0 };
    return endTrial(deps, step, { deterministic, judged, money, error: null, calls: [] });
  });
}
