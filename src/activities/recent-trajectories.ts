import type { Trajectory } from '../core/trajectory.ts';
import type { TrialKey } from '../core/trial.ts';

/**
 * Trajectories this worker has just stored: the judge step usually runs here next and need not read them back.
 * An entry counts only for the fence that stored it, so a trajectory of another attempt is never judged by mistake.
 */
export interface RecentTrajectories {
  put(key: TrialKey, fence: number, trajectory: Trajectory): void;
  take(key: TrialKey, fence: number | null): Trajectory | null;
}

export function createRecentTrajectories(capacity = 500): RecentTrajectories {
  const entries = new Map<string, { fence: number; trajectory: Trajectory }>();
  const text = (key: TrialKey): string => JSON.stringify([key.evaluation_id, key.case_id, key.trial_index]);
  return {
    put(key, fence, trajectory) {
      entries.set(text(key), { fence, trajectory });
      const oldest = entries.keys().next().value;
      if (entries.size > capacity && oldest !== undefined) entries.delete(oldest);
    },
    take(key, fence) {
      const entry = entries.get(text(key));
      entries.delete(text(key));
      return entry !== undefined && entry.fence === fence ? entry.trajectory : null;
    },
  };
}
