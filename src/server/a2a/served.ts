import type { AgentSkill, Artifact, Message, TaskState } from '@a2a-js/sdk';
import type { FinalStatus } from '../../core/trajectory.ts';
import type { A2aTaskRow } from '../../db/a2a-tasks.ts';
import type { NewEvaluation } from '../../db/create-evaluation.ts';
import type { EvaluationRow } from '../../db/evaluations.ts';

/** A message of a client, and what came before it. */
export interface Turn {
  message: Message;
  /** The task it goes on with; null: a new one. */
  task: A2aTaskRow | null;
  /** Tasks of the same context, oldest first. */
  context: readonly A2aTaskRow[];
}

/** What a message leads to. */
export type Plan =
  | { kind: 'start'; wanted: NewEvaluation }
  /** Something is missing: the task waits for it. */
  | { kind: 'ask'; question: string }
  /** Answered at once; there is no task. Only for a message that names none. */
  | { kind: 'reply'; text: string };

/** What of an ended evaluation decides the state of its task. */
export interface EvaluationEnd {
  status: 'completed' | 'stopped';
  /** Of the trial that decides ({@link Served.decidingCase}); null: there is none, or it has no trajectory. */
  finalStatus: FinalStatus | null;
}

/** What an ended evaluation means for its task. */
export interface TaskEnd {
  /** As {@link Served.stateOfEnd} says. */
  state: TaskState;
  text: string;
  artifacts: Artifact[];
}

/** What `assay serve` publishes. Tasks are evaluations, whatever it is. */
export interface Served {
  /** Tells the tasks of one served thing from those of another in the same database. */
  key: string;
  name: string;
  description: string;
  skills: AgentSkill[];
  /** URIs of A2A extensions it understands. */
  extensions: { uri: string; description: string }[];
  /** @throws RequestMalformedError when the message cannot be understood, UserError when nothing can be started */
  plan(turn: Turn): Promise<Plan>;
  /** What a running evaluation has come to. */
  progress(row: EvaluationRow): Promise<string>;
  /** Id of the case whose first trial decides the state of an ended task; null: the evaluation's status alone does. */
  decidingCase: string | null;
  stateOfEnd(end: EvaluationEnd): TaskState;
  end(row: EvaluationRow): Promise<TaskEnd>;
}
