import type { SubAgentRun } from '../../../../src/core/trajectory.ts';

/** A run of a sub-agent in which nothing happened, but for the given fields. */
export function subAgentRun(fields: Partial<SubAgentRun> = {}): SubAgentRun {
  return {
    name: 'helper',
    input: 'look it up',
    output: 'found',
    final_status: 'COMPLETED',
    tool_calls: [],
    usage: { input: 0, cached: 0, output: 0, reasoning: 0, total: 0 },
    ...fields,
  };
}
