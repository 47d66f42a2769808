import type { JsonObject } from '../core/json.ts';
import type { ToolCall } from '../core/trajectory.ts';
import type { MockWorld, ToolOutcome } from './mock/mock-world.ts';

/**
 * Answers the calls of one tool in the place of the mock world. `call` is the record of the call, begun but not ended.
 * What the tool does wrong is an outcome with an error; infrastructure failures and an aborted signal reject.
 */
export type ToolHandler = (args: JsonObject, signal: AbortSignal, call: ToolCall) => Promise<ToolOutcome>;

/** What answers the calls of a trial: a mock world, or one with other tools beside it. */
export interface ToolWorld {
  /** Answers one call as {@link MockWorld} does; `call` is its record. */
  call(tool: string, args: JsonObject, signal: AbortSignal, call: ToolCall): Promise<ToolOutcome>;
  state(): JsonObject | null;
}

/** A world in which some tools are answered by handlers, by name, and all others by the world given. */
export function routeTools(world: ToolWorld | MockWorld, handlers: ReadonlyMap<string, ToolHandler>): ToolWorld {
  return {
    state: () => world.state(),
    call(tool, args, signal, call) {
      const handler = handlers.get(tool);
      return handler === undefined ? world.call(tool, args, signal, call) : handler(args, signal, call);
    },
  };
}
