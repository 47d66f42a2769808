import type { Score } from '../core/score.ts';
import type { Trajectory } from '../core/trajectory.ts';
import { scoreTrial } from '../scorers/index.ts';
import type { GivenUp } from './trial-step.ts';

/** The scores of a trial that need no judge: Assay's own scorers, and those of the suite. */
export async function deterministicScores(
  { evalCase, context }: Pick<GivenUp, 'evalCase' | 'context'>,
  trajectory: Trajectory,
  costUsd: number | null,
  signal?: AbortSignal,
): Promise<Score[]> {
  const { suite, scorers } = context;
  const custom =
    scorers === null
      ? []
      : await scorers.score({ evalCase, trajectory, suite }, signal ?? new AbortController().signal);
  return scoreTrial({ evalCase, trajectory, suite, costUsd }, custom);
}
