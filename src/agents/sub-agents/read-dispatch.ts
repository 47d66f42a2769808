import type { JsonObject } from '../../core/json.ts';

/** One dispatch as the agent asked for it. */
export interface DispatchRequest {
  name: string;
  task: string;
  /** Parts of the dispatcher's context handed over on purpose. */
  context: string[];
}

/** Reads the arguments of a dispatch; a text says what is wrong with them. */
export function readDispatch(args: JsonObject): DispatchRequest | string {
  const { name, task, context = [] } = args;
  if (typeof name !== 'string' || name === '') return 'name is missing: which sub-agent?';
  if (typeof task !== 'string' || task.trim() === '') return 'task is missing: what is the sub-agent to do?';
  if (!Array.isArray(context) || !context.every((part) => typeof part === 'string')) {
    return 'context is no list of texts';
  }
  return { name, task, context };
}

/** What the sub-agent is told. */
export function inputOfDispatch({ task, context }: DispatchRequest): string {
  return context.length === 0 ? task : [task, 'Context:', ...context].join('\n\n');
}
