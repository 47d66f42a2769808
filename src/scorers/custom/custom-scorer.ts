import type { EvalCase } from '../../core/case.ts';
import type { JsonObject } from '../../core/json.ts';
import type { Trajectory } from '../../core/trajectory.ts';
import type { ScoringSuite } from '../scorer.ts';

/** What a scorer of your own is given. Data only: changing it changes nothing. */
export interface CustomScorerInput {
  evalCase: EvalCase;
  trajectory: Trajectory;
  /** What scoring reads of the suite. */
  suite: ScoringSuite;
  /** The scorer's `options` in the suite file. */
  options: JsonObject;
}

/** What a scorer of your own returns. Other keys are refused. */
export interface CustomScore {
  /** From 0 to 1; null = not scored: it does not apply, or cannot be told. */
  value: number | null;
  /** Null = no verdict, and never counted as a pass; required to be null (or left out) where `value` is null. */
  passed?: boolean | null;
  /** A sentence a reader can act on: what was wanted, what was got, where. */
  reason: string;
  /** Anything worth keeping beside it, as JSON of at most 64 kB. */
  details?: JsonObject;
}

/**
 * A scorer of your own: the export that an entry of the suite's `scorers` names (default: the default export). Pure: the same
 * input must give the same score, so no clock, no randomness, no network; stored trajectories are scored again with it.
 * What it throws, returns wrongly, or does not return in time is a null score with the cause.
 */
export type CustomScorer = (input: CustomScorerInput) => CustomScore | Promise<CustomScore>;
