import type { TrialStepResult } from '../activities/contract.ts';

/** Trials a shard hands out beyond its lanes. */
export interface LookAhead {
  /** How many more than `lanes`. */
  extra(lanes: number): number;
  /** Whether it may hand out early, now or later: then the worker has to count. */
  on(): boolean;
  note(result: TrialStepResult): void;
}

/**
 * A lane is idle from the end of its trial until the workflow has answered with the next. Where trials are short that is a
 * fifth of the time, so a few are handed out early and wait in the worker (within-lanes.ts), which keeps to the number of lanes.
 * It cannot count what other workers run: nothing is handed out early until as many trials as there are lanes have ended in
 * one worker, and nothing more once another shows up. Nor where a trial takes more than one step, or is handed back.
 *
 * @param share of the lanes; 0: never
 */
export function createLookAhead(share: number): LookAhead {
  let off = share <= 0;
  let worker: string | undefined;
  let ended = 0;
  return {
    extra: (lanes) => (off || ended < lanes ? 0 : Math.ceil(lanes * share)),
    on: () => !off,
    note({ n, w }) {
      worker ??= w;
      off ||= n !== 'done' || w === undefined || w !== worker;
      ended += 1;
    },
  };
}
