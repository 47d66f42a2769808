import type { ToolCall, Trajectory } from '../../core/trajectory.ts';

/** A call with who made it: `the agent` or `sub-agent name`. */
export interface AttributedCall {
  by: string;
  call: ToolCall;
}

/** Every call of a trial, sub-agents' included: what safety looks at. */
export function everyCall(trajectory: Trajectory): AttributedCall[] {
  return [
    ...trajectory.tool_calls.map((call) => ({ by: 'the agent', call })),
    ...trajectory.sub_agents.flatMap((run) => run.tool_calls.map((call) => ({ by: `sub-agent ${run.name}`, call }))),
  ];
}
