import type { ToolDefinition } from '../../core/case.ts';
import type { ScoringInput } from '../scorer.ts';

const known = new WeakMap<ScoringInput, ReadonlyMap<string, ToolDefinition>>();

/** The tools the agent had, by name: as recorded in the trajectory, else as the case declares them, else the suite's. */
export function toolsOf(input: ScoringInput): ReadonlyMap<string, ToolDefinition> {
  const found = known.get(input);
  if (found !== undefined) return found;
  const tools = new Map(declaredTools(input).map((tool) => [tool.name, tool]));
  known.set(input, tools);
  return tools;
}

function declaredTools({ evalCase, trajectory, suite }: ScoringInput): ToolDefinition[] {
  if (trajectory.available_tools.length > 0) return trajectory.available_tools;
  if (evalCase.tools === undefined) return suite.tools;
  return evalCase.tools.flatMap((tool) =>
    typeof tool === 'string' ? suite.tools.filter((shared) => shared.name === tool) : [tool],
  );
}
