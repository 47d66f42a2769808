import { atLeast } from '../core/score.ts';
import { judgesOf } from '../core/suite.ts';
import type { JudgeAggregate, JudgeConfig } from '../core/suite.ts';
import type { DimensionSpec } from './dimensions/dimension.ts';
import type { UnscoredCause } from './verdict.ts';

/** One verdict to ask for: which judge, and where it stands among the others of its dimension. */
export interface VotePlace {
  /** 0-based over all rounds: the place in the trial's journal. */
  vote: number;
  /** 0-based: the how manieth judging of the trajectory. */
  round: number;
  /** The configuration as this vote uses it: its judge's model; the seed moved by one for each repeated vote. */
  config: JudgeConfig;
}

/** Every vote of one dimension: round by round, judge by judge. */
export function votePlaces(config: JudgeConfig): VotePlace[] {
  const { votes = 1, times = 1, seed } = config;
  const places: VotePlace[] = [];
  for (let round = 0; round < times; round += 1) {
    for (const { model } of judgesOf(config)) {
      for (let repetition = 0; repetition < votes; repetition += 1) {
        // With one seed for all, an endpoint that honours it would say the same each time.
        const moved = seed === undefined ? {} : { seed: seed + round * votes + repetition };
        places.push({ vote: places.length, round, config: { ...config, model, ...moved } });
      }
    }
  }
  return places;
}

/** What one vote came to. */
export interface Vote {
  vote: number;
  round: number;
  model: string;
  /** Null, both: no verdict. */
  value: number | null;
  passed: boolean | null;
  reason: string;
  cause: UnscoredCause | null;
}

/** Several votes as one verdict. */
export interface JoinedVotes {
  value: number | null;
  passed: boolean | null;
  /** Set when there is no verdict. */
  cause: UnscoredCause | null;
  /** Votes with a verdict. */
  valid: number;
  /** Share of the valid votes that are not on the side of the larger part: 0 = all agree, 0.5 = a tie; null: none valid. */
  disagreement: number | null;
}

/**
 * Joins the votes of one dimension. More than half of all votes must have a verdict, else there is none. Then:
 * - more valid votes pass than fail, or the other way round: that decides, and the value is the median of the valid votes;
 * - as many pass as fail: with `majority` there is no verdict (`judge_tied`); with `median` neither where the scale has
 *   no numbers between (words, 0 or 1), else the mean of the two middle values is held against the threshold.
 * Of an even number of words or zeros and ones the median is the lower middle one: nobody gave anything between.
 */
export function joinVotes(
  votes: readonly Pick<Vote, 'value' | 'passed' | 'cause'>[],
  rule: { aggregate: JudgeAggregate } & Pick<DimensionSpec, 'scale' | 'passesAt'>,
): JoinedVotes {
  const values = votes.flatMap(({ value }) => (value === null ? [] : [value])).sort((a, b) => a - b);
  const valid = values.length;
  const passes = votes.filter(({ passed }) => passed === true).length;
  const disagreement = valid === 0 ? null : Math.min(passes, valid - passes) / valid;
  const none = (cause: UnscoredCause): JoinedVotes => ({ value: null, passed: null, cause, valid, disagreement });
  if (valid * 2 <= votes.length) return none(votes.find(({ cause }) => cause !== null)?.cause ?? 'judge_unparsable');
  const between = rule.scale === 'likert' || rule.scale === 'unit';
  const tied = passes * 2 === valid;
  if (tied && (rule.aggregate === 'majority' || !between)) return none('judge_tied');
  const value = between ? median(values) : (values[Math.ceil(valid / 2) - 1] ?? 0);
  const passed = tied ? atLeast(value, rule.passesAt) : passes * 2 > valid;
  return { value, passed, cause: null, valid, disagreement };
}

/** Of ascending values; the mean of the middle two where their number is even. */
function median(sorted: readonly number[]): number {
  const upper = sorted[Math.floor(sorted.length / 2)] ?? 0;
  const lower = sorted[Math.ceil(sorted.length / 2) - 1] ?? upper;
  return lower === upper ? upper : (lower + upper) / 2;
}

/** The joined value of each round, null where it has none: how far they differ is the judge's own variance. */
export function roundValues(votes: readonly Vote[], rule: Parameters<typeof joinVotes>[1]): (number | null)[] {
  const rounds: Vote[][] = [];
  for (const vote of votes) (rounds[vote.round] ??= []).push(vote);
  return rounds.map((round) => joinVotes(round, rule).value);
}

/** Why the votes came to their verdict: the count, a reason of the side that won, one of those against it. */
export function joinedReason(votes: readonly Vote[], joined: JoinedVotes): string {
  const scored = votes.filter(({ value }) => value !== null);
  const missing = votes.length - scored.length;
  const without = missing === 0 ? '' : `; ${missing} without a verdict (${firstCause(votes)})`;
  const passes = scored.filter(({ passed }) => passed === true).length;
  const count = `${passes} of ${scored.length} votes pass${without}`;
  if (joined.passed === null) {
    return joined.cause === 'judge_tied'
      ? `judge_tied: ${count}`
      : `${joined.cause ?? 'judge_unparsable'}: only ${scored.length} of ${votes.length} votes have a verdict${without}`;
  }
  const nearest = scored
    .filter(({ passed }) => passed === joined.passed)
    .sort((a, b) => distance(a, joined) - distance(b, joined) || a.vote - b.vote)[0];
  const against = scored.find(({ passed }) => passed !== joined.passed);
  const dissent = against === undefined ? '' : `; against it: ${against.model}: ${against.reason}`;
  return `${count}: ${nearest?.reason ?? 'the judge gave no reason'}${dissent}`;
}

function firstCause(votes: readonly Vote[]): string {
  return votes.find(({ cause }) => cause !== null)?.cause ?? 'no reason given';
}

function distance(vote: Vote, joined: JoinedVotes): number {
  return Math.abs((vote.value ?? 0) - (joined.value ?? 0));
}
