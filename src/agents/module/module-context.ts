import type { Json, JsonObject } from '../../core/json.ts';
import type { ModelReply } from '../../core/model.ts';
import type { ChildMessage, ModuleContextData, ParentMessage } from './module-protocol.ts';
import { type Recorded, wrapTools } from './wrap-tools.ts';

/** A function a module may call as a tool. */
export type ToolFunction = (args?: JsonObject) => Promise<Json>;

/** What a tool call or a model call of a module rejects with; `kind` as in the trajectory, e.g. `not_found`. */
export class CallError extends Error {
  readonly kind: string;
  constructor(error: { kind: string; message: string }) {
    super(error.message);
    this.name = 'CallError';
    this.kind = error.kind;
  }
}

/** The second argument of a module agent. */
export interface ModuleContext extends Omit<ModuleContextData, 'toolNames'> {
  /** The case's tools, answered by the mock world and recorded. Each rejects with {@link CallError} when the tool fails. */
  tools: Record<string, ToolFunction>;
  callTool(name: string, args?: JsonObject): Promise<Json>;
  /**
   * The module's own tools, recorded: functions, or tools of the Vercel AI SDK, the OpenAI Agents SDK or LangChain, as an
   * object by name or as a list. Their code is not changed.
   */
  wrap<T extends Record<string, unknown> | readonly unknown[]>(tools: T): T;
  /** A model call that is journaled: a retried trial replays it. `{model, messages, tools?, temperature?, seed?, …}`. */
  complete(request: JsonObject): Promise<ModelReply>;
  /** Aborted when the trial is canceled or its time is used up; the process is killed shortly after. */
  signal: AbortSignal;
}

/** The context of one trial, and where answers of the parent process go. */
export interface ContextLink {
  context: ModuleContext;
  receive(message: ParentMessage): void;
}

type Waiting = { resolve: (value: never) => void; reject: (error: Error) => void };

/** Builds the context over a channel to the parent process. */
export function createModuleContext(data: ModuleContextData, send: (message: ChildMessage) => void): ContextLink {
  const controller = new AbortController();
  const waiting = new Map<number, Waiting>();
  const groups = createCallGroups();
  let lastId = 0;

  const ask = <T>(messageOf: (callId: number) => ChildMessage): Promise<T> =>
    new Promise<T>((resolve, reject) => {
      lastId += 1;
      send(messageOf(lastId));
      waiting.set(lastId, { resolve: resolve as Waiting['resolve'], reject });
    });
  const callTool = async (tool: string, args: JsonObject = {}): Promise<Json> => {
    const sent = plain(args);
    const group = groups.begin();
    return ask<Json>((callId) => ({ type: 'call', callId, group, tool, args: sent })).finally(groups.end);
  };
  const record: Recorded = async (tool, args, run, shown = (result) => result) => {
    lastId += 1;
    const callId = lastId;
    send({ type: 'started', callId, group: groups.begin(), tool, args: plain(args) });
    try {
      const result = await run();
      send({ type: 'ended', callId, result: plain(shown(result)), error: null });
      return result;
    } catch (error) {
      send({ type: 'ended', callId, result: null, error: { kind: 'threw', message: String(error) } });
      throw error;
    } finally {
      groups.end();
    }
  };

  const { toolNames, ...rest } = data;
  const tools = toolNames.map((name): [string, ToolFunction] => [name, (args) => callTool(name, args)]);
  return {
    context: {
      ...rest,
      tools: Object.fromEntries(tools),
      callTool,
      wrap: (own) => wrapTools(own, record),
      complete: async (request) => ask((callId) => ({ type: 'complete', callId, request: plain(request) })),
      signal: controller.signal,
    },
    receive(message) {
      if (message.type === 'abort') controller.abort(new Error(message.reason));
      if (message.type !== 'answer' && message.type !== 'completion' && message.type !== 'refusal') return;
      const call = waiting.get(message.callId);
      waiting.delete(message.callId);
      if (message.type === 'refusal') call?.reject(new CallError(message.error));
      else call?.resolve((message.type === 'answer' ? message.value : message.reply) as never);
    },
  };
}

/** Numbers the groups of overlapping calls. Counted here: the parent's answer may be quicker than the next call. */
function createCallGroups(): { begin(): number; end(): void } {
  let open = 0;
  let group = -1;
  return {
    begin() {
      if (open === 0) group += 1;
      open += 1;
      return group;
    },
    end() {
      open -= 1;
    },
  };
}

/**
 * The value as JSON would carry it.
 * @throws {TypeError} for a cycle or a BigInt.
 */
export function plain(value: unknown): Json {
  const text = JSON.stringify(value);
  return text === undefined ? null : (JSON.parse(text) as Json);
}
