import type { EvalCase, SubAgentDefinition, ToolDefinition } from '../../core/case.ts';
import { DISPATCH_TOOL, type Suite } from '../../core/suite.ts';

export { SUB_AGENT_DEFAULTS } from '../../core/suite.ts';

/** The sub-agents of a case: its own list, where a name stands for the suite's of that name, else all of the suite. */
export function subAgentsOf(
  evalCase: Pick<EvalCase, 'context'>,
  suite: Pick<Suite, 'sub_agents'>,
): SubAgentDefinition[] {
  const shared = suite.sub_agents ?? [];
  const listed = evalCase.context?.sub_agents;
  if (listed === undefined) return shared;
  return listed.flatMap((entry) =>
    typeof entry === 'string' ? shared.filter((candidate) => candidate.name === entry) : [entry],
  );
}

/** The tool that dispatches one of these; null when there is none to dispatch. */
export function dispatchTool(subAgents: readonly SubAgentDefinition[]): ToolDefinition | null {
  if (subAgents.length === 0) return null;
  const lines = subAgents.map(
    ({ name, description }) => `${name}${description === undefined ? '' : `: ${description}`}`,
  );
  return {
    name: DISPATCH_TOOL,
    description:
      'Hands a task to a sub-agent and returns its result. It sees nothing of this conversation but what you pass.\n' +
      `Sub-agents:\n${lines.join('\n')}`,
    parameters: {
      type: 'object',
      properties: {
        name: { type: 'string', enum: subAgents.map(({ name }) => name) },
        task: { type: 'string', description: 'What it is to do, with all it needs to know.' },
        context: {
          type: 'array',
          items: { type: 'string' },
          description: 'Parts of this conversation to hand over on purpose, word by word.',
        },
      },
      required: ['name', 'task'],
      additionalProperties: false,
    },
  };
}
