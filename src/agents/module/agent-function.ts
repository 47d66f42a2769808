import type { FinalStatus, PromptSegment, SubAgentRun } from '../../core/trajectory.ts';
import type { ModuleContext } from './module-context.ts';

/** Tokens of model calls a module agent made with a client of its own; what is left out is unknown, never 0. */
export interface AgentUsage {
  input?: number;
  /** Part of `input` that the provider served from its cache. */
  cached?: number;
  output?: number;
  /** Part of `output` that was reasoning. */
  reasoning?: number;
  /** Default: input + output. */
  total?: number;
}

/** What a module agent returns when a text alone does not say it. Other keys are refused: the trial is FAILED. */
export interface AgentAnswer {
  /** What the user is told; null = nothing. */
  answer: string | null;
  /**
   * Default: ESCALATED when the agent handed over, INPUT_REQUIRED when it asked the user and no fixture answered, else
   * COMPLETED.
   */
  finalStatus?: FinalStatus;
  /** The steps the agent set out to take, for plan checks. */
  plan?: string[];
  /** Ids of the documents it retrieved, best first, for `expected.doc_ids`. */
  retrievedDocIds?: string[];
  /** Added to the usage of `context.complete`, which is counted by itself. */
  usage?: AgentUsage;
  /**
   * Sub-agents it dispatched on its own, in the order dispatched, with the fields of a trajectory's `sub_agents`
   * (docs/sub-agents.md); what is left out is unknown, and its rule is not checked.
   */
  subAgents?: (Pick<SubAgentRun, 'name'> & Partial<SubAgentRun>)[];
  /** The parts of the system prompt as it was sent, in their order. */
  promptSegments?: PromptSegment[];
}

/**
 * An agent of your own: the export that `agent: { type: module, path: agent.ts }` of a suite names (default: the
 * default export). It runs in a child process, one trial at a time; a process serves many trials, so keep nothing
 * between calls.
 *
 * What it throws, or returns wrongly, is a FAILED trial with the trajectory so far. When its time is used up
 * (`limits.timeout_ms`) `context.signal` is aborted, and shortly after the process is killed.
 *
 * @param input what the user says: the case's `input`, its last user message, or its turns joined by line breaks
 * @param context the case's tools, documents and earlier messages, and a journaled model call
 */
export type AgentFunction = (
  input: string,
  context: ModuleContext,
) => string | AgentAnswer | Promise<string | AgentAnswer>;
