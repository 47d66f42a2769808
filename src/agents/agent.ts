import type { EvalCase } from '../core/case.ts';
import type { TrialModel } from '../core/model.ts';
import type { Suite } from '../core/suite.ts';
import type { Trajectory } from '../core/trajectory.ts';

export interface AgentInput {
  evalCase: EvalCase;
  /** 1-based repetition. */
  trialIndex: number;
  suite: Suite;
  /** Absolute folder of the suite file; `module` paths are relative to it. */
  suiteRoot: string;
  /** Model calls through here are journaled: a retry replays them. */
  model: TrialModel;
  /** Aborted on cancel: every model call and child process ends within a second. */
  signal: AbortSignal;
  /** Milliseconds since the epoch; after an interruption, as if what is replayed had taken its time again. */
  now: () => number;
}

/**
 * Something that can be evaluated. What the agent does wrong (a cap reached, a refusal, an exception of its own code)
 * is data in the trajectory; infrastructure failures reject: with `ModelError`, `WorkerCrashError` (module child died),
 * or `AbortError` when `signal` was aborted.
 */
export interface Agent {
  run(input: AgentInput): Promise<Trajectory>;
}
