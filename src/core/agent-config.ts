import type { Json, JsonObject } from './json.ts';

/** Where the parts of an HTTP agent's reply stand, as JSON pointers (RFC 6901). A part that is not there is unknown. */
interface HttpResponseMap {
  /** Default `/answer`. */
  answer?: string;
  /** Default `/final_status`. */
  final_status?: string;
  /** Calls the agent made by itself, with their results. Default `/tool_calls`. */
  tool_calls?: string;
  /** Calls the agent wants answered by the mock world; the reply that has some is not the last. Default `/pending_calls`. */
  pending_calls?: string;
  /** Default `/usage`. */
  usage?: string;
  /** Default `/retrieved_doc_ids`. */
  retrieved_doc_ids?: string;
  /** Default `/sub_agents`. */
  sub_agents?: string;
  /** Default `/plan`. */
  plan?: string;
  /** Default `/model`. */
  model?: string;
}

/** For agents that take a task and are asked until it is done. */
export interface HttpPolling {
  /** Address of the task, relative to `url`; `{{id}}` stands for its id, percent-encoded. */
  url: string;
  /** Pointer to the id in the first reply. Default `/id`. */
  id: string;
  /** Pointer to the status in every reply. Default `/status`. */
  status: string;
  /** Statuses that end the waiting. Default completed, done, succeeded. */
  done: string[];
  /** Statuses of a task that failed: the trial is FAILED. Default failed, error, canceled. */
  failed: string[];
  /** Milliseconds between two questions. Default 500. */
  interval_ms: number;
  /** Address that is sent a POST when a task is given up, relative to `url`. Default: none is sent. */
  cancel_url?: string;
}

/** A service of the user's own that takes JSON and answers with JSON. */
export interface HttpAgentConfig {
  type: 'http';
  url: string;
  /** Further headers; secrets do not belong here. */
  headers?: Record<string, string>;
  /** Name of the environment variable with the secret of {@link auth_header}. Default: no such header. */
  auth_env?: string;
  /** Default `Authorization`. */
  auth_header: string;
  /** Word before the secret; `''` = the secret alone. Default `Bearer`. */
  auth_scheme: string;
  /** Body of each request, `{{name}}` filled in. Default: everything an agent may be told. */
  request?: Json;
  response?: HttpResponseMap;
  /** What statuses of the agent's own mean here. */
  statuses?: Record<string, string>;
  poll?: HttpPolling;
  /** Longest reply that is read, bytes. Default 8 MiB. */
  max_response_bytes: number;
  /** A redirect may lead to a private or link-local address. Default false. */
  allow_private: boolean;
  version?: string;
}

/** A program in any language that speaks JSON lines on stdin and stdout. */
export interface CommandAgentConfig {
  type: 'command';
  /** Program and arguments; no shell. */
  command: string[];
  /** Relative to the suite file. Default: the suite's folder. */
  cwd?: string;
  /** Variables set for the program. */
  env?: Record<string, string>;
  /** Names of variables of the worker that the program gets too. */
  pass_env?: string[];
  /** The program is told endpoint and key of the model. Default false. */
  model_access: boolean;
  options?: JsonObject;
  /** Longest output of one trial, bytes. Default 16 MiB. */
  max_output_bytes: number;
  version?: string;
}

/** Recorded trajectories in place of an agent: nothing is run, everything is scored again. */
export interface ReplayAgentConfig {
  type: 'replay';
  /** JSON lines as `assay export` and `assay import trajectories` write them; relative to the suite file. */
  trajectories: string;
  version?: string;
}

/** What may be filled into the `request` of an http agent (docs/agents.md). The case's id is not among them. */
export const HTTP_REQUEST_NAMES: readonly string[] = [
  'input',
  'messages',
  'new_messages',
  'tools',
  'tool_results',
  'documents',
  'metadata',
  'conversation_id',
  'trial_index',
  'turn_index',
];
