import type { TrialKey } from '../core/trial.ts';
import { createBatcher } from './batch.ts';
import { claimTrials } from './claim-trials.ts';
import type { Db } from './connect.ts';
import { finishTrials } from './finish-trials.ts';
import { journalCalls } from './journal-calls.ts';
import { saveTrajectories } from './save-trajectories.ts';
import { isTransient, whileTransient } from './transient.ts';
import { type Claim, type JournalEntry, keyText, type StoredTrajectory, type TrialEnd } from './trial-rows.ts';

/** Trial writes of one worker. Each is one transaction; several trials share one. All are safe to repeat. */
export interface TrialWriter {
  /** null: the trial has ended already. */
  claim(key: TrialKey): Promise<Claim | null>;
  /** false: fenced off by a later claim. */
  journal(entry: JournalEntry): Promise<boolean>;
  saveTrajectory(item: StoredTrajectory): Promise<boolean>;
  finish(end: TrialEnd): Promise<boolean>;
}

/** Creates the writer of one worker process. `worker` names it: a claim by another name after an unfinished one counts as a death. */
export function createTrialWriter(db: Db, worker: string): TrialWriter {
  const claims = createBatcher<TrialKey, Claim | null>({
    keyOf: keyText,
    parallel: 1,
    lingerMs: 2,
    isOutage: isTransient,
    flush: (keys) => whileTransient(() => claimTrials(db, worker, keys)),
  });
  const journals = createBatcher<JournalEntry, boolean>({
    keyOf: (entry) =>
      `${keyText(entry.key)} ${entry.role} ${entry.path} ${entry.dimension} ${entry.vote} ${entry.sequence}`,
    parallel: 1,
    lingerMs: 2,
    isOutage: isTransient,
    flush: (entries) => whileTransient(() => journalCalls(db, entries)),
  });
  const trajectories = createBatcher<StoredTrajectory, boolean>({
    keyOf: (item) => keyText(item.key),
    parallel: 1,
    lingerMs: 2,
    isOutage: isTransient,
    flush: (items) => whileTransient(() => saveTrajectories(db, items)),
  });
  const ends = createBatcher<TrialEnd, boolean>({
    keyOf: (end) => keyText(end.key),
    maxItems: 100,
    parallel: 1,
    lingerMs: 2,
    isOutage: isTransient,
    flush: (items) => whileTransient(() => finishTrials(db, items)),
  });
  return {
    claim: (key) => claims.submit(key),
    journal: (entry) => journals.submit(entry),
    saveTrajectory: (item) => trajectories.submit(item),
    finish: (end) => ends.submit(end),
  };
}
