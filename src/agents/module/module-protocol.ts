import type { ChatMessage, RagDocument } from '../../core/case.ts';
import type { Json, JsonObject } from '../../core/json.ts';
import type { ModelReply } from '../../core/model.ts';

/** What a module is told of its trial. Nothing names the case. */
export interface ModuleContextData {
  /** The whole conversation to begin with: memory, messages, input, first turn. */
  messages: ChatMessage[];
  /** User turns of a dialogue, all of them. */
  turns: string[];
  documents: RagDocument[];
  /** Names of the tools offered in this case. */
  toolNames: string[];
  metadata: JsonObject;
  /** The agent's `options` in the suite file. */
  options: JsonObject;
  trialIndex: number;
  seed: number;
  /** Settings for a model client of the module's own; null when none are configured. */
  model: { baseURL: string; apiKey: string | null } | null;
}

/** Where the function is. */
export interface ModulePlace {
  /** Absolute path of the module. */
  path: string;
  exportName: string;
}

/** One trial for a child process that has loaded its module. */
export interface ModuleTask {
  /** What the user says: the case's input, last user message, or turns. */
  input: string;
  context: ModuleContextData;
}

export interface ModuleFailure {
  name: string;
  message: string;
  /** `file:line:column` in the module; null when unknown. */
  at: string | null;
}

/** Every message names its trial: what a module left running must not reach the next one in its process. */
export interface Envelope<T> {
  runId: number;
  message: T;
}

export type ParentMessage =
  | { type: 'load'; place: ModulePlace }
  | { type: 'run'; task: ModuleTask }
  /** One trial for a module that is a scorer: its function gets this value alone. */
  | { type: 'score'; input: Json }
  | { type: 'answer'; callId: number; value: Json }
  | { type: 'completion'; callId: number; reply: ModelReply }
  | { type: 'refusal'; callId: number; error: { kind: string; message: string } }
  | { type: 'abort'; reason: string };

export type ChildMessage =
  /** A tool the mock world answers. Calls of one `group` overlap in time, as the module sees it. */
  | { type: 'call'; callId: number; group: number; tool: string; args: Json }
  /** A tool the module runs itself, recorded. */
  | { type: 'started'; callId: number; group: number; tool: string; args: Json }
  | { type: 'ended'; callId: number; result: Json; error: { kind: string; message: string } | null }
  | { type: 'complete'; callId: number; request: Json }
  | { type: 'loaded' }
  | { type: 'returned'; value: Json }
  /** `load`: the module could not be loaded. `run`: the function threw. `stray`: an error nobody awaited; the child ends. */
  | { type: 'failed'; phase: 'load' | 'run' | 'stray'; error: ModuleFailure };
