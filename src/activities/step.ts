import type { StoredCase } from '../db/trial-reads.ts';
import type { TrialStepInput, TrialStepResult } from './contract.ts';

/** What a trial that takes up one of its shard's lanes brings into its step. */
export interface Lane {
  /** Its case, which is read while the trial waits for the lane. */
  stored: Promise<StoredCase>;
  /** Lets the next trial begin: of this one nothing is left but its last write. Again: does nothing. */
  leave(): void;
}

/** A step of a trial. Without a lane, the worker does not count the trial. */
export type Step = (input: TrialStepInput, lane?: Lane) => Promise<TrialStepResult>;
