/** Where an A2A agent is, and how it is talked to. Secrets are named, never held. */
export interface A2aTarget {
  /** Address of the agent card; of a host alone: its well-known paths are tried. */
  card_url: string;
  /** Name of the environment variable with the bearer token. It is sent to the host of `card_url` only. */
  auth_env?: string;
  /** Addresses found in the card, in redirects and by name servers may be private or link-local. Default false. */
  allow_private: boolean;
  /**
   * `stream`, `poll` or `blocking`. Default `auto`: stream where the card offers it, else poll. A task whose request blocks
   * has no id before it ends, so it cannot be canceled.
   */
  mode: 'auto' | 'stream' | 'poll' | 'blocking';
  /** Milliseconds between two looks at a task. Default 1,000. */
  poll_interval_ms: number;
  /** How long an agent that has taken a task may be unreachable before the trial is tried again, milliseconds. Default 30,000. */
  patience_ms: number;
  /** Longest reply that is read, bytes; of a stream, all of it. Default 8 MiB. */
  max_response_bytes: number;
}

/** A remote agent that speaks the Agent2Agent protocol (1.0 or 0.3), discovered by its card. */
export interface A2aAgentConfig extends A2aTarget {
  type: 'a2a';
  version?: string;
}

/** A remote A2A agent that is offered to the agent under test as a tool. */
export interface A2aToolConfig extends A2aTarget {
  /** One call, milliseconds; then the remote task is canceled and the tool has failed. Default 60,000. */
  timeout_ms: number;
}
