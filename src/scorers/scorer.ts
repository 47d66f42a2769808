import type { EvalCase } from '../core/case.ts';
import type { Score } from '../core/score.ts';
import type { Suite } from '../core/suite.ts';
import type { Trajectory } from '../core/trajectory.ts';

/** The part of a suite that scoring reads. */
export type ScoringSuite = Pick<
  Suite,
  'tool_score' | 'retrieval' | 'safety' | 'decides' | 'judge' | 'tools' | 'sub_agents' | 'scorers'
>;

export interface ScoringInput {
  evalCase: EvalCase;
  trajectory: Trajectory;
  suite: ScoringSuite;
  /** Money of the agent's model calls, US dollars; null when the model has no price. */
  costUsd: number | null;
}

/** A score before it is known whether it decides the trial. */
export type ScoreDraft = Omit<Score, 'deciding' | 'violation'> & { violation?: boolean };

/** Pure: the same input gives the same scores. `[]` = does not apply to this case. Never throws on agent data. */
export type Scorer = (input: ScoringInput) => ScoreDraft[];
