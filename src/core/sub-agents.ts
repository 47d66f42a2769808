import type { EvalCase } from './case.ts';
import type { Suite } from './suite.ts';
import type { Trajectory } from './trajectory.ts';

/** Whether isolation is checked in a trial: its case declares sub-agents, or its agent reports some. */
export function hasSubAgents(
  evalCase: Pick<EvalCase, 'context'>,
  suite: Pick<Suite, 'sub_agents'>,
  trajectory: Pick<Trajectory, 'sub_agents'> | null,
): boolean {
  const declared = evalCase.context?.sub_agents ?? suite.sub_agents ?? [];
  return declared.length > 0 || (trajectory?.sub_agents.length ?? 0) > 0;
}
