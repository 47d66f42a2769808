import type { EvalCase } from '../core/case.ts';
import type { Trajectory } from '../core/trajectory.ts';
import type { Claim } from '../db/trial-rows.ts';
import type { TrialStepInput } from './contract.ts';

/** What the agent step of a trial leaves for the judge step. */
export interface HandedOver {
  evalCase: EvalCase;
  /** Still this process's, unless another worker has claimed the trial since: then every write of it is refused. */
  claim: Claim;
  trajectory: Trajectory;
}

/** Trials whose agent step has just ended in this worker: the judge step usually runs here next, and reads nothing back. */
export interface HandOver {
  put(trial: TrialStepInput, step: HandedOver): void;
  has(trial: TrialStepInput): boolean;
  /** Once: a second judge step of the same trial claims it anew. */
  take(trial: TrialStepInput): HandedOver | null;
}

export function createHandOver(capacity = 500): HandOver {
  const entries = new Map<string, HandedOver>();
  const text = (trial: TrialStepInput): string =>
    JSON.stringify([trial.evaluationId, trial.revision, trial.position, trial.trialIndex]);
  return {
    put(trial, step) {
      entries.set(text(trial), step);
      const oldest = entries.keys().next().value;
      if (entries.size > capacity && oldest !== undefined) entries.delete(oldest);
    },
    has: (trial) => entries.has(text(trial)),
    take(trial) {
      const entry = entries.get(text(trial)) ?? null;
      entries.delete(text(trial));
      return entry;
    },
  };
}
