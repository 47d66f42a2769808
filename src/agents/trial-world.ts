import type { ToolDefinition } from '../core/case.ts';
import { shownA2aTool } from './a2a/shown-tool.ts';
import type { AgentInput } from './agent.ts';
import { createMockWorld } from './mock/mock-world.ts';
import { toolsOf } from './openai/conversation.ts';
import type { Sleep } from './sleep.ts';
import { routeTools, type ToolHandler, type ToolWorld } from './tool-router.ts';

/** Tools from outside the mock world, open for one trial. */
export interface ToolSource {
  /** Offered beside the case's; of one name the first is offered. */
  tools: ToolDefinition[];
  handlers: ReadonlyMap<string, ToolHandler>;
  /** Lets go of what it holds. Never rejects for what the other side does. */
  close(): Promise<void>;
}

/** Opens a source for a trial. Rejects for infrastructure failures, and when `input.signal` is aborted. */
export type OpenToolSource = (input: AgentInput) => Promise<ToolSource>;

/** A source that adds nothing. */
export const NO_TOOLS: ToolSource = { tools: [], handlers: new Map(), close: () => Promise.resolve() };

/** All tools of one trial, whoever answers them. */
export interface TrialWorld {
  tools: ToolDefinition[];
  world: ToolWorld;
  close(): Promise<void>;
}

/** The tools offered in a trial: the case's from the mock world, and those of the sources in their order. */
export async function openTrialWorld(
  input: AgentInput,
  options: { sleep: Sleep; sources?: readonly OpenToolSource[] },
): Promise<TrialWorld> {
  const mock = createMockWorld(input.evalCase, input.suite, { sleep: options.sleep });
  const tools = new Map(toolsOf(input.evalCase, input.suite).map((tool) => [tool.name, shownA2aTool(tool)]));
  const handlers = new Map<string, ToolHandler>();
  const open: ToolSource[] = [];
  const close = async (): Promise<void> => {
    await Promise.all(open.map((source) => source.close()));
  };
  try {
    for (const openSource of options.sources ?? []) {
      const source = await openSource(input);
      open.push(source);
      for (const tool of source.tools) if (isOffered(tool.name, tools, input)) tools.set(tool.name, tool);
      for (const [name, handler] of source.handlers) if (!handlers.has(name)) handlers.set(name, handler);
    }
  } catch (error) {
    await close();
    throw error;
  }
  return { tools: [...tools.values()], world: routeTools(mock, handlers), close };
}

/** A case that lists its tools is offered those alone; a bare name there stands for the source's tool of that name. */
function isOffered(name: string, known: ReadonlyMap<string, ToolDefinition>, { evalCase }: AgentInput): boolean {
  const tool = known.get(name);
  if (tool === undefined) return evalCase.tools === undefined;
  return tool.description === undefined && tool.parameters === undefined && (evalCase.tools ?? []).includes(name);
}
