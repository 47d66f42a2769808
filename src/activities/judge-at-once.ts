import type { ActivityDeps } from './deps.ts';
import type { HandOver } from './hand-over.ts';
import type { Step } from './step.ts';

/**
 * Where one queue serves both, the worker that has run the agent goes on to the judge in the same activity: it would be
 * given that step next anyway, at the price of an activity more. By then the trajectory is stored: a judge that fails, or
 * a worker that dies with it, costs no agent run; the retry finds the trajectory and leaves the judge to a step of its own.
 */
export function judgeAtOnce(
  { config }: Pick<ActivityDeps, 'config'>,
  steps: { runAgent: Step; judgeTrial: Step },
  handOver: HandOver,
): Step {
  if (config.agentTaskQueue !== config.judgeTaskQueue) return steps.runAgent;
  return async (input, lane) => {
    const step = await steps.runAgent(input, lane);
    return step.n === 'judge' && handOver.has(input) ? steps.judgeTrial(input, lane) : step;
  };
}
