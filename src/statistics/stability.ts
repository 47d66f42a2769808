import type { CaseResult, Stability } from '../core/evaluation.ts';
import { createMoments, momentsOf } from './moments.ts';
import type { MomentsAccumulator } from './moments.ts';

export interface StabilityAccumulator {
  add(result: CaseResult): void;
  /** Null when no case has more than one trial. */
  finish(): Stability | null;
}

/** How much the completion rate moves from one repetition of the suite to the next; see docs/statistics.md. */
export function createStability(): StabilityAccumulator {
  const byTrial: MomentsAccumulator[] = [];
  const within = createMoments();
  let cases = 0;
  let variance = 0;
  return {
    add(result) {
      result.completion_by_trial.forEach((value, i) => {
        const moments = (byTrial[i] ??= createMoments());
        if (value !== null) moments.add(value);
      });
      const completion = result.metrics['completion_rate'];
      if (completion === undefined || completion.mean === null) return;
      cases += 1;
      variance += completion.mean * (1 - completion.mean);
      if (completion.stdev !== null) within.add(completion.stdev);
    },
    finish() {
      if (byTrial.length < 2) return null;
      const rates = byTrial.map((moments) => moments.moments().mean);
      const { mean, stdev } = momentsOf(rates.filter((rate) => rate !== null));
      return {
        by_trial: rates,
        mean,
        stdev,
        expected_stdev: cases === 0 ? null : Math.sqrt(variance) / cases,
        mean_within_case_stdev: within.moments().mean,
      };
    },
  };
}
