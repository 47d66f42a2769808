import type { ToolDefinition } from '../../core/case.ts';
import type { JsonObject } from '../../core/json.ts';

/** Parameters of a tool that names none of its own. */
const PARAMETERS: JsonObject = {
  type: 'object',
  properties: {
    message: { type: 'string', description: 'what the remote agent is asked to do, in plain words' },
    task_id: { type: 'string', description: 'task of an earlier call that waits for input; leave out for a new task' },
  },
  required: ['message'],
};

/** The definition a model is shown: what the suite leaves out is filled in. */
export function shownA2aTool(tool: ToolDefinition): ToolDefinition {
  if (tool.a2a === undefined) return tool;
  const { a2a: _remote, ...shown } = tool;
  return { description: 'A remote agent. It works on a message and answers.', parameters: PARAMETERS, ...shown };
}
