import type { Json, JsonObject } from '../core/json.ts';
import type { RE2JS } from 're2js';

/** Conditions of a rule; all that are given must hold. Several texts of one key: all must occur. */
export interface When {
  /** Equals the request's model. */
  model?: string;
  /** The last user message. */
  user_contains?: string[];
  /** The last user message; its groups are `{{match.1}}` … in the reply. */
  user_matches?: RE2JS;
  /** Any system or developer message. */
  system_contains?: string[];
  /** Any message's text. */
  contains?: string[];
  /** The last message is the result of a call of this tool. */
  after_tool?: string;
  /** The text of the trailing tool results: those of the last assistant turn. */
  last_tool_contains?: string[];
  /** The request offers this tool. */
  has_tool?: string;
  /** true: the request offers no tools; false: it offers some. */
  no_tools?: boolean;
  /** Assistant messages already in the request. */
  turn?: number;
  /** The request's seed is one of these. */
  seed?: number[];
}

/** One tool call of a reply. `raw` is sent as it is, for malformed calls; `raw_arguments` replaces `arguments`. */
export interface ScriptedToolCall {
  name?: string;
  arguments?: JsonObject;
  raw_arguments?: string;
  /** Default: made from the request's hash. */
  id?: string;
  raw?: Json;
}

interface ScriptedUsage {
  input?: number;
  output?: number;
  cached?: number;
  reasoning?: number;
}

/** What the server answers. Times are milliseconds. */
export interface Reply {
  content?: string | null;
  json?: JsonObject;
  tool_calls?: ScriptedToolCall[];
  refusal?: string;
  finish_reason?: string;
  /** Absent: estimated from lengths, always alike. null: the reply has no usage. */
  usage?: ScriptedUsage | null;
  /** Name in the reply; default the script's. */
  model?: string;
  delay_ms?: number;
  /** Streaming: between the first byte and the first token; else added to delay_ms. */
  first_token_delay_ms?: number;
  status?: number;
  headers?: Record<string, string>;
  error?: { code?: string | null; type?: string; message?: string };
  /** Raw body, status default 200. */
  body?: string;
  content_type?: string;
  /** Accept and never answer. */
  hang?: boolean;
  /** Close the connection before the reply or in the middle of its body. */
  drop?: 'before' | 'mid';
  /** Streaming: stop after this many chunks, the connection stays open. */
  stall_after?: number;
}

export interface Rule {
  /** Key in the statistics; default `rule-<position>`. */
  name: string;
  when: When;
  /** By how often this rule answered this very request; the last one repeats. */
  replies: Reply[];
  /** The same request may come twice without counting as repeated. Default false. */
  allow_repeat: boolean;
}

/** A script, checked and ready to answer. */
export interface Script {
  /** For messages; null for a script that is no file. */
  file: string | null;
  model: string;
  delay_ms: number;
  rules: Rule[];
  /** Answers when no rule holds; null: status 400 that names the request. */
  fallback: Rule | null;
}

/** Name of the fallback in the statistics. */
export const DEFAULT_RULE = 'default';

/** What `assay mock-model` answers without a script: the last user message, back. */
export const ECHO_SCRIPT: Script = {
  file: null,
  model: 'scripted-1',
  delay_ms: 0,
  rules: [],
  fallback: { name: DEFAULT_RULE, when: {}, replies: [{ content: '{{last_user}}' }], allow_repeat: true },
};
