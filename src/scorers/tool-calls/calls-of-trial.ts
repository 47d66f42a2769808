import type { ToolCall, Trajectory } from '../../core/trajectory.ts';

/** A call with who made it: `the agent` or `sub-agent name`. */
export interface AttributedCall {
  by: string;
  call: ToolCall;
  /** Every call of the same conversation, this one included. */
  among: readonly ToolCall[];
}

/** Every call of a trial, sub-agents' included: what safety looks at. */
export function everyCall(trajectory: Trajectory): AttributedCall[] {
  return [
    ...attributed('the agent', trajectory.tool_calls),
    ...trajectory.sub_agents.flatMap((run) => attributed(`sub-agent ${run.name}`, run.tool_calls)),
  ];
}

function attributed(by: string, calls: readonly ToolCall[]): AttributedCall[] {
  return calls.map((call) => ({ by, call, among: calls }));
}
